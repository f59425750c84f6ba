#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/check_includes.sh [root [boxes]]   who may include whom, by the boxes that CMake wrote
# (build/release/boxes.txt: name, its paths, the paths that it may include). Files that no box
# compiles, those in folders named cuda or mpi, are held to the rules of the box that they lie in.
# And no build file asks for fast-math.
set -euo pipefail
cd -- "${1:-$(dirname -- "${BASH_SOURCE[0]}")/..}"
boxes=${2:-build/release/boxes.txt}
[[ -s $boxes ]] || { echo "includes: no boxes in $boxes; configure with cmake --preset release first" >&2; exit 2; }

folders=(abi examples reference cp kernels parity reports property_tests bench cli)
sources=(--include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh')
generated='version|contract_texts|dashboard_texts|plan_figures|regression_texts'
wrong=0

# report RULE FOUND   where something was found, the rule is broken.
report() {
  [[ -n $2 ]] || return 0
  printf '%s:\n%s\n' "$1" "$2" >&2
  wrong=1
}

# alternatives path...   a regular expression for a path, or anything in it where it is a folder.
alternatives() {
  local path pattern=
  for path in "$@"; do
    if [[ $path == *.h ]]; then pattern+="|${path//./\\.}\""; else pattern+="|${path%/.}/"; fi
  done
  echo "${pattern#|}"
}

# check_box NAME PATHS VISIBLE
check_box() {
  local name=$1 path found='' depth
  local -a own visible
  read -ra own <<<"$2"
  read -ra visible <<<"$3"
  for path in "${own[@]}"; do
    depth=99
    [[ $path != */. ]] || depth=1  # directly in the folder alone
    found+=$(find "${path%/.}" -maxdepth $depth -type f \
      -regex '.*\.\(h\|cpp\|cu\|cuh\)' -exec grep -nHE '^[[:space:]]*#[[:space:]]*include' {} + |
      grep -E "include[[:space:]]*[\"<]($(IFS='|' && echo "${folders[*]}"))/" |
      grep -vE "include[[:space:]]*\"($(alternatives "${visible[@]}"))" || true)
  done
  report "the box $name may not include" "$found"
}

count=0
while IFS=$'\t' read -r name own visible; do
  check_box "$name" "$own" "$visible"
  count=$((count + 1))
done <"$boxes"
check_box reports reports reports

# An include that starts anywhere else would pass by the boxes.
report 'includes start at the project root' "$(grep -rnE "${sources[@]}" '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "${folders[@]}" |
  grep -vE "\"(($(IFS='|' && echo "${folders[*]}"))/|($generated)\.h\")" || true)"
report 'includes climb no folders' "$(grep -rnE "${sources[@]}" '^[[:space:]]*#[[:space:]]*include.*\.\./' "${folders[@]}" || true)"
report 'nothing is compiled with fast-math' "$(grep -rnE -e '-ffast-math|-Ofast|use_fast_math|-funsafe-math|-fassociative-math' \
  CMakeLists.txt CMakePresets.json cmake ./*/CMakeLists.txt || true)"

((wrong == 0)) && echo "includes: every arrow of $count boxes points the right way"
exit "$wrong"
