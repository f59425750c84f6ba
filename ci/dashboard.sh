#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/dashboard.sh [-o FILE]   the dashboard of this project's own measurements: every version of the
# files in reports/results/ that git knows, into build/dashboard/history.db, and from it one page,
# build/dashboard/dashboard.html. Says which files a history does not keep. RINGCHECK_PROGRAM names a ringcheck
# that is built already.
set -euo pipefail
ci=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
page=$ci/../build/dashboard/dashboard.html
case ${1:-} in
  '') ;;
  -o) page=${2:?ci/dashboard.sh: -o wants a file} ;;
  *)
    echo "ci/dashboard.sh: unknown argument '$1'; want -o FILE" >&2
    exit 2
    ;;
esac
page=$(realpath -m -- "$page")

if [[ -z ${RINGCHECK_PROGRAM:-} ]]; then
  "$ci/build.sh" release ringcheck
  RINGCHECK_PROGRAM=$ci/../build/release/bin/ringcheck
fi
RINGCHECK_PROGRAM=$(realpath -- "$RINGCHECK_PROGRAM")
# shellcheck source=ci/environment.sh
source "$ci/environment.sh"
cd -- "$ci/.."

folder=build/dashboard
versions=$folder/versions
history=$folder/history.db
rm -rf "$versions" "$history" "$history"-{wal,shm}
mkdir -p "$versions"

# Every version that was committed, and what lies there now; without git, that alone. What foreign subjects came to
# has a form and a page of its own, ci/subjects.py; sides of a gate are slow on purpose.
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  git log --reverse --diff-filter=AM --format='commit %h' --name-only -- 'reports/results/*.json' \
    ':!reports/results/subjects' ':!reports/results/gate' |
    while read -r word rest; do
      [[ -n $word ]] || continue
      if [[ $word == commit ]]; then
        commit=$rest
      else
        git show "$commit:$word" >"$versions/$(basename -- "$word" .json)@$commit.json"
      fi
    done
fi
cp reports/results/*.json reports/results/speed/*.json "$versions"

# committed COMMIT FILE...   when, in UTC; now, where git does not know.
committed() {
  TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd "$@" 2>/dev/null || date -u +%Y-%m-%dT%H:%M:%SZ
}
for file in "$versions"/*{sensitivity,faults}*.json; do
  name=$(basename -- "$file" .json) commit=HEAD
  [[ $name != *@* ]] || commit=${name#*@}
  /usr/bin/python3 ci/pages/earlier.py "$file" "$(committed "$commit" -- ":(glob)reports/results/**/${name%@*}.json")"
done

# One that a history does not keep costs the others nothing.
kept=0
for file in "$versions"/*.json; do
  if complaint=$("$RINGCHECK_PROGRAM" report add "$history" "$file" --branch main 2>&1 >/dev/null); then
    kept=$((kept + 1))
  else
    echo "not kept: $(basename -- "$file"): ${complaint#*is no result of RingCheck: }" >&2
  fi
done
"$RINGCHECK_PROGRAM" report html "$history" -o "$page"
echo "$page: $kept of $(find "$versions" -name '*.json' | wc -l) files, $(stat -c %s "$page") bytes"
