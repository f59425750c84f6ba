#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/mutate.sh [--minutes M] [--count N] [--seed S] [--shard I/N] [--only PART] [--survived] [--tree DIR]   makes one
# small wrong edit after the other in who judges (parity/judge, parity/oracles, reference, cp/ledger),
# rebuilds the library, and asks the self-test, the smoke profile and the tests of that folder. At most
# one build at a time, in a worktree of the last commit (build/mutate), never in these sources; DIR names
# another tree that is built. The seed, by default the day, draws which come first; of N machines each
# takes its shard. Results are added to reports/mutants.json; ci/mutation/run.py --list reports/mutants.json
# --add LIST... adds those of other machines. Exit code 1: an edit survived.
set -euo pipefail
ci=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname -- "$ci")
tree=$root/build/mutate
options=()
while (($# > 0)); do
  case $1 in
    --tree) tree=$2 && shift 2 ;;
    *) options+=("$1") && shift ;;
  esac
done

if [[ $tree == "$root/build/mutate" ]]; then
  if [[ -d $tree ]]; then
    git -C "$tree" checkout --quiet --force --detach "$(git -C "$root" rev-parse HEAD)"
  else
    git -C "$root" worktree add --detach "$tree" HEAD
  fi
  RINGCHECK_CUDA=${RINGCHECK_CUDA:-0} RINGCHECK_TESTS=1 "$tree/ci/build.sh" release
fi
# shellcheck source=ci/environment.sh
source "$tree/ci/environment.sh"
exec python3 "$ci/mutation/run.py" --tree "$tree" --list "$root/reports/mutants.json" "${options[@]}"
