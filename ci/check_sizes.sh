#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/check_sizes.sh [root]   no source above 300 lines, none of C++ with a line above 160 characters, no folder
# with more than 30 files, but for those that hold one member, or one measurement, a file.
set -euo pipefail
cd -- "${1:-$(dirname -- "${BASH_SOURCE[0]}")/..}"
max_lines=300 max_characters=160 max_files=30
collections='^\./(parity/oracles|reports/results(/speed)?)$'

# files find-arguments...   what is ours: no build trees, nothing hidden.
files() { find . \( -path './build*' -o -path './.?*' -o -name __pycache__ \) -prune -o -type f "$@"; }

long=$(files -regex '.*\.\(h\|cpp\|cu\|cuh\|cmake\|sh\|py\)' -exec wc -l {} + |
  awk -v max=$max_lines '$1 > max && $2 != "total" { print $2 ": " $1 " lines" }')
# shellcheck disable=SC2016  # of awk
broad=$(files -regex '.*\.\(h\|cpp\|cu\|cuh\)' -exec awk -v max=$max_characters \
  'length($0) > max { print FILENAME ":" FNR ": " length($0) " characters" }' {} +)
wide=$(files -printf '%h\n' | grep -vE "$collections" | sort | uniq -c |
  awk -v max=$max_files '$1 > max { print $2 ": " $1 " files" }')
[[ -z $long ]] || printf 'sources have at most %d lines:\n%s\n' "$max_lines" "$long" >&2
[[ -z $broad ]] || printf 'lines of C++ have at most %d characters:\n%s\n' "$max_characters" "$broad" >&2
[[ -z $wide ]] || printf 'folders hold at most %d files:\n%s\n' "$max_files" "$wide" >&2
[[ -z $long$broad$wide ]] || exit 1
echo "sizes: no source above $max_lines lines, no line of C++ above $max_characters characters, no folder above $max_files files"
