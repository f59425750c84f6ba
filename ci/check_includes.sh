#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# Who may include whom: the two sides of an equality share nothing but the mask predicate. And no
# build file asks for fast-math.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

ours='reference|cp|kernels|parity|reports|property_tests|bench|cli'
wrong=0

# allow <folder> <pattern>: quoted includes that name a folder of ours must match the pattern.
allow() {
  local folder=$1 pattern=$2 found
  found=$(grep -rnE --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' \
    "^[[:space:]]*#[[:space:]]*include[[:space:]]*[\"<]($ours)/" "$folder" |
    grep -vE "include[[:space:]]*[\"<]($pattern)" || true)
  if [[ -n $found ]]; then
    printf '%s may not include:\n%s\n' "$folder" "$found" >&2
    wrong=1
  fi
}

# Relative includes would pass by the rules above.
relative() {
  local found
  found=$(grep -rnE --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' \
    '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]*\.\./' ${ours//|/ } || true)
  if [[ -n $found ]]; then
    printf 'includes start at the project root:\n%s\n' "$found" >&2
    wrong=1
  fi
}

fast_math() {
  local found
  found=$(grep -rnE -e '-ffast-math|-Ofast|use_fast_math|-funsafe-math|-fassociative-math' \
    CMakeLists.txt CMakePresets.json cmake ./*/CMakeLists.txt || true)
  if [[ -n $found ]]; then
    printf 'nothing is compiled with fast-math:\n%s\n' "$found" >&2
    wrong=1
  fi
}

allow reference 'reference/'
allow cp 'cp/|reference/mask\.h"'
allow kernels 'kernels/|cp/|reference/mask\.h"'
allow parity 'parity/|reference/|cp/|kernels/'
allow reports 'reports/'
relative
fast_math

((wrong == 0)) && echo 'includes: every arrow points the right way'
exit "$wrong"
