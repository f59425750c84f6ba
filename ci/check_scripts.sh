#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/check_scripts.sh   shellcheck finds nothing in any shell script; without shellcheck it fails.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
mapfile -t scripts < <(grep -lE '^#!/usr/bin/env bash|^# shellcheck shell=bash' ci/*.sh bench/*.sh ci/bundle/* ci/templates/*.slurm .ci/*)
shellcheck --external-sources "${scripts[@]}"
echo "scripts: shellcheck finds nothing in ${#scripts[@]}"
