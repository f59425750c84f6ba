#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# gpu.sh OUT [part...]   runs what needs a GPU from a bundle (ci/bundle.sh), a file a part in OUT.
# Parts: doctor smoke laws conformance nccl clean sanitize. Without parts all of them. The exit code
# is the number of parts that failed.
set -uo pipefail
here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
out=${1:?folder for the results?}
shift
parts=("$@")
((${#parts[@]} > 0)) || parts=(doctor smoke laws conformance nccl clean sanitize)
mkdir -p "$out"
gpus=$(nvidia-smi --list-gpus | wc -l)
export RC_PARAMS=${RC_PARAMS:-seed=20261121} OMP_NUM_THREADS=${OMP_NUM_THREADS:-8}
export OMP_WAIT_POLICY=passive

verify() { "$here/ringcheck" verify --device cuda "$@"; }

doctor() { "$here/ringcheck" doctor --json "$out/doctor.json"; }
smoke() { verify --json "$out/gpu${gpus}_smoke.json"; }
conformance() { verify --profile conformance --json "$out/gpu${gpus}_conformance.json"; }
clean() { verify --clean "${RINGCHECK_CLEAN:-5000}" 1 --json "$out/gpu${gpus}_clean.json"; }
laws() {
  local failed=0 program
  for program in kernel_laws kernel_gradient_laws context_parallel_laws \
    context_parallel_bounds_laws context_parallel_exact_laws context_parallel_state_laws \
    context_parallel_rope_laws context_parallel_snap_laws memory_test; do
    RINGCHECK_TEST_DEVICE=cuda timeout 120 "$here/run" "$program" >"$out/$program.log" 2>&1 ||
      { failed=1; echo "$program failed" && grep -E "FAILED|Falsifiable|what\(\)" -A12 "$out/$program.log" | head -40; }
  done
  return $failed
}
nccl() {
  local world
  for ((world = 2; world <= gpus; world *= 2)); do
    verify --profile smoke --world-kind mpi --world "$world" \
      --json "$out/gpu${gpus}_nccl_${world}.json" || return 1
  done
}
# Every finding of a sanitizer makes its exit code 9, whatever the verdicts are.
sanitize() {
  local tool failed=0
  for tool in memcheck racecheck; do
    RINGCHECK_WRAP="compute-sanitizer --tool $tool --target-processes all --error-exitcode 9" \
      verify --profile smoke --world "${RINGCHECK_SANITIZE_WORLD:-3}" --deadline 300 \
      >"$out/$tool.log" 2>&1 || failed=1
    grep -E "ERROR SUMMARY|RACECHECK SUMMARY|cases:" "$out/$tool.log" | sort | uniq -c
  done
  return $failed
}

failed=0
for part in "${parts[@]}"; do
  begin=$SECONDS
  if "$part"; then verdict=passed; else verdict=FAILED; failed=$((failed + 1)); fi
  echo "== $part: $verdict, $((SECONDS - begin)) s"
done
exit $failed
