#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/mutate.sh [--minutes M] [--count N] [--seed S] [--shards N | --shard I/N] [--only PART] [--survived] [--tree DIR]
# makes one small wrong edit after the other in who judges (parity/judge, parity/oracles, reference, cp/ledger),
# rebuilds the library, and asks the self-test, the smoke profile and the tests of that folder. Edits are made in a
# worktree of the last commit (build/mutate), never in these sources; DIR names another tree that is built. --shards
# shares edits and cores among so many worktrees of this machine (build/mutate-I), --shard is one of N machines. The
# seed, by default the day, draws which come first. Results are added to reports/mutants.json; ci/mutation/run.py --list
# reports/mutants.json --add LIST... adds those of other machines. Exit code 1: an edit survived.
set -euo pipefail
ci=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname -- "$ci")
list=$root/reports/mutants.json
tree='' shards=1 count=200 options=()
while (($# > 0)); do
  case $1 in
    --tree) tree=$2 && shift 2 ;;
    --shards) shards=$2 && shift 2 ;;
    --count) count=$2 && shift 2 ;;
    *) options+=("$1") && shift ;;
  esac
done
mapfile -t cores < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
[[ $shards =~ ^[1-9][0-9]*$ && $shards -le ${#cores[@]} ]] || {
  echo "mutate: --shards $shards: want 1 to ${#cores[@]}, the cores there are" >&2
  exit 2
}

# worktree DIR   one of the last commit.
worktree() {
  if [[ -d $1 ]]; then
    git -C "$1" checkout --quiet --force --detach "$(git -C "$root" rev-parse HEAD)"
  else
    git -C "$root" worktree add --quiet --detach "$1" HEAD
  fi
}

# build DIR   what is asked of it.
build() {
  local targets
  read -ra targets < <(python3 "$ci/mutation/run.py" --list "$list" --targets)
  RINGCHECK_CUDA=${RINGCHECK_CUDA:-0} RINGCHECK_TESTS=1 "$1/ci/build.sh" release "${targets[@]}"
}

# mutate TREE LIST options...
mutate() { python3 "$ci/mutation/run.py" --tree "$1" --list "$2" "${options[@]}" "${@:3}"; }

if ((shards == 1)); then
  if [[ -z $tree ]]; then
    tree=$root/build/mutate
    worktree "$tree"
    build "$tree"
  fi
  # shellcheck source=ci/environment.sh
  source "$tree/ci/environment.sh"
  mutate "$tree" "$list" --count "$count"
  exit
fi

each=$((${#cores[@]} / shards)) running=() lists=() worst=0
for ((i = 1; i <= shards; ++i)); do
  worktree "$root/build/mutate-$i"
  lists+=("$root/build/mutate-$i/mutants.json")
  cp "$list" "${lists[-1]}"
done
build "$root/build/mutate-1"  # what the others find in the compiler's cache
for ((i = 1; i <= shards; ++i)); do
  own=$root/build/mutate-$i
  (
    taskset --cpu-list --pid "$(IFS=, && echo "${cores[*]:(i - 1) * each:each}")" "$BASHPID" >/dev/null
    ((i == 1)) || build "$own"
    # shellcheck source=ci/environment.sh
    source "$own/ci/environment.sh"
    mutate "$own" "${lists[i - 1]}" --count $(((count + shards - 1) / shards)) --shard "$i/$shards"
  ) &
  running+=($!)
done
for process in "${running[@]}"; do
  code=0
  wait "$process" || code=$?
  ((code <= worst)) || worst=$code
done
python3 "$ci/mutation/run.py" --tree "$root" --list "$list" --add "${lists[@]}"
exit "$worst"
