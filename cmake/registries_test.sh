#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# registries_test.sh LIBRARY PLUGIN   what a library that is loaded later adds to registries (cp/registry.h) is found: each of
# them has its table in the library that looks into it, too. Where an inline function looks, the table is one of the program,
# which others do not see.
set -euo pipefail
tables() { nm --dynamic "$1" | awk '$2 == "u" && $3 ~ /^_ZZN9ringcheck8Registry.*entries/ { print $3 }' | sort -u; }
added=$(tables "$2")
[[ -n $added ]] || { echo "no registry is found in $2: is 'nm' another one?" >&2; exit 1; }
lost=$(comm -23 <(echo "$added") <(tables "$1"))
[[ -z $lost ]] && exit
echo "nobody can find what $2 adds to these registries; look into them in a .cpp file of $1:" >&2
c++filt <<<"$lost" >&2
exit 1
