#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# gpu.sh OUT [part...]   runs what needs a GPU from a bundle (ci/bundle.sh) and writes into OUT a
# Result and a summary of it for each run. Parts: doctor smoke laws conformance nccl faults
# scaling clean sanitize; without parts all of them, but nccl and faults on one GPU. The exit code
# is the number of parts that failed.
set -uo pipefail
here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
out=$(mkdir -p "${1:?folder for the results?}" && cd "$1" && pwd) || exit 2
shift
parts=("$@") several=()
gpus=$(nvidia-smi --list-gpus | wc -l)
((gpus > 0)) || { echo "gpu.sh: no GPU" >&2; exit 2; }
((gpus == 1)) || several=(nccl faults)
((${#parts[@]} > 0)) || parts=(doctor smoke laws conformance "${several[@]}" scaling clean sanitize)
export RC_PARAMS=${RC_PARAMS:-seed=20261121} OMP_NUM_THREADS=${OMP_NUM_THREADS:-6}
export OMP_WAIT_POLICY=passive

# run NAME command...   a run of verify, its Result and what it printed
run() {
  local name=$1
  shift
  "$@" --json "$out/$name.json" >"$out/$name.txt" 2>&1
  local code=$?
  echo "$name: exit code $code, $(grep -E 'cases/s' "$out/$name.txt" | tail -1)"
  [[ ! -e $out/$name.json ]] || "$here/summary.py" "$out/$name.json" >"$out/$name.summary.json"
  # 6: a random case may show nothing; that is no alarm.
  ((code == 0 || (code == 6 && ${allow_inconclusive:-0})))
}
on() { CUDA_VISIBLE_DEVICES=$1 "${@:2}"; }
verify=("$here/ringcheck" verify --device cuda)
count=0

# later NAME GPUS command...   the same beside others, on these GPUs; all() waits for them
later() {
  count=$((count + 1))
  run "$1" on "${@:2}" &
}
all() {
  local failed=0 job
  for job in $(jobs -p); do wait "$job" || failed=1; done
  return $failed
}
next() { echo $((count % gpus)); }
everybody=$(seq -s, 0 $((gpus - 1)))

doctor() { "$here/ringcheck" doctor --json "$out/doctor.json"; }
smoke() { run "gpu${gpus}_smoke" "${verify[@]}"; }
# Where graphs are built for every shape, a process for each kernel and dtype.
conformance() {
  local dtype kernel
  for kernel in cudnn aten-cudnn; do
    for dtype in bf16 fp16; do
      later "gpu1_conformance_${kernel}_$dtype" "$(next)" "${verify[@]}" --profile conformance \
        --world-kind thread --kernel "$kernel" --dtype "$dtype"
    done
  done
  later gpu1_conformance "$(next)" "${verify[@]}" --profile conformance --world-kind thread \
    --kernel tiled,wgmma,plain,fa2,efficient
  all || return 1
  ((gpus == 1)) || run "gpu${gpus}_conformance" on "$everybody" "${verify[@]}" \
    --profile conformance --world-kind thread --kernel tiled,wgmma,plain,fa2,efficient
}
nccl() {
  local world failed=0
  for ((world = 2; world <= gpus; ++world)); do
    run "gpu${world}_nccl" "$here/run" ../ranks "$world" ringcheck verify --device cuda \
      --profile conformance --world "$world" --kernel tiled,wgmma,plain,fa2,efficient,cudnn || failed=1
  done
  return $failed
}
# A rank that is killed, and one that is stopped, beside others.
faults() {
  ((gpus > 1)) || { echo "faults: needs 2 GPUs"; return 1; }
  "$here/faults" "$out" cuda "$gpus" "$here/ringcheck"
}
# Throughput beside one GPU: ranks as threads, and as processes over NCCL.
scaling() {
  local failed=0 kernel cases=()
  for kernel in wgmma cudnn fa2; do
    cases+=(--case "ring:p2p/headtail/$kernel/causal/thread/cuda/P$gpus/hq32/hkv8/s16K/d128/bf16")
  done
  run_scaling "gpu${gpus}_scaling_threads" "$here/run" ringcheck_scaling "${cases[@]}" || failed=1
  ((gpus == 1)) || run_scaling "gpu${gpus}_scaling_nccl" "$here/run" ../ranks "$gpus" \
    ringcheck_scaling "${cases[@]}" || failed=1
  return $failed
}
run_scaling() {
  "${@:2}" --json "$out/$1.json" >"$out/$1.txt" 2>&1
  local code=$?
  echo "$1: exit code $code"
  return $code
}
clean() {
  local seed
  allow_inconclusive=1
  for seed in 1 2 3 4 5 6; do
    later "gpu1_clean_$seed" "$(next)" "${verify[@]}" --clean "${RINGCHECK_CLEAN:-850}" "$seed"
  done
  all
}
laws() {
  local failed=0 program
  for program in "$here"/bin/*_laws "$here"/bin/*_test; do
    program=$(basename -- "$program")
    RINGCHECK_TEST_DEVICE=cuda timeout 300 "$here/run" "$program" >"$out/$program.log" 2>&1 && continue
    failed=1
    echo "$program failed" && grep -E "FAILED|Falsifiable|what\(\)" -A12 "$out/$program.log" | head -40
  done
  return $failed
}
# Our own kernels, all masks and dtypes. Every finding of a sanitizer makes its exit code 9.
sanitize() {
  local tool failed=0
  for tool in memcheck racecheck; do
    RINGCHECK_WRAP="compute-sanitizer --tool $tool --target-processes all --error-exitcode 9" \
      on 0 "${verify[@]}" --kernel tiled,wgmma --world 3 --seq 100 --heads 2 --kv-heads 1 --dim 40 \
      --mask 'causal,full,window[30],prefix[20],doc[60,30:40]' --dtype float64,float32,bf16,fp16 \
      --rotation p2p --rope 'half[10000]' --deadline 300 >"$out/$tool.log" 2>&1 || failed=1
    grep -E "ERROR SUMMARY|RACECHECK SUMMARY|cases:" "$out/$tool.log" | sort | uniq -c
  done
  return $failed
}

failed=0
for part in "${parts[@]}"; do
  begin=$SECONDS
  if "$part"; then verdict=passed; else verdict=FAILED failed=$((failed + 1)); fi
  echo "== $part: $verdict, $((SECONDS - begin)) s"
done
exit $failed
