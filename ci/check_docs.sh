#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/check_docs.sh [root]   every path of the tree that README.md or a page of docs/ names in code
# quotes exists, as does every file that they link to. A path of the tree begins with one of its
# folders; <name> and * stand for any text, {a,b} for each of them. A block of code behind
# <!--from FILE--> stands in that file, at any depth.
set -euo pipefail
cd -- "${1:-$(dirname -- "${BASH_SOURCE[0]}")/..}"
shopt -s extglob
folders=$(find . -mindepth 1 -maxdepth 1 -type d ! -name '.*' ! -name 'build*' -printf '%f\n' | sort | paste -sd '|')
quoted=$'\x60[^\x60]+\x60'
pages=(README.md docs/*.md)
count=0 wrong=0

# patterns TEXT   one a line, braces taken apart.
patterns() {
  local text=${1//<+([a-z_])>/*} word
  if [[ $text =~ ^([^{]*)\{([^}]*)\}(.*)$ ]]; then
    local before=${BASH_REMATCH[1]} after=${BASH_REMATCH[3]}
    for word in ${BASH_REMATCH[2]//,/ }; do patterns "$before$word$after"; done
  else
    echo "$text"
  fi
}

# check PAGE TEXT PATTERN   something has this name.
check() {
  count=$((count + 1))
  if ! compgen -G "$3" >/dev/null; then
    echo "$1 names $2, and there is no $3" >&2
    wrong=1
  fi
}

for page in "${pages[@]}"; do
  while read -r text; do
    while read -r pattern; do check "$page" "$text" "$pattern"; done < <(patterns "$text")
  done < <(grep -oE "$quoted" "$page" | grep -oE "(^.|[[:space:]])($folders)/[^[:space:]]*" |
    sed -E $'s/^[[:space:]\x60]//; s/[\x60.,:;)]+$//')
  while read -r target; do
    check "$page" "a link to $target" "$(dirname "$page")/$target"
  done < <(awk '/^```/ { code = !code } !code' "$page" | grep -oE '\]\([^)#:]+' | cut -c3-)
  while IFS=: read -r line file; do
    count=$((count + 1))
    code=$(awk -v mark="$line" 'NR > mark + 1 { if (/^```/) exit; print }' "$page" | sed 's/^ *//')
    if [[ -z $code || $(sed 's/^ *//' "$file") != *"$code"* ]]; then
      echo "$page, line $line: the block is no part of $file" >&2
      wrong=1
    fi
  done < <(sed -nE '/^<!--from .+-->$/ { =; s/<!--from (.+)-->/\1/p }' "$page" | paste -d: - -)
done

((wrong == 0)) && echo "docs: all $count paths and blocks on ${#pages[@]} pages exist"
exit "$wrong"
