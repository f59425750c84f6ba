#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# gpu.sh OUT [part...]   runs what needs a GPU from a bundle (ci/bundle.sh) and writes into OUT a
# Result and a summary of it for each run. Parts: doctor refusals smoke laws conformance exact charted wide windows
# triangles relations growth matrix ipc large nccl torchrun faults long million slice reference scaling clean memcheck racecheck; without parts all
# of them, but million, which takes GPUs an hour together, slice, an eighth of it, nccl, torchrun and faults on one GPU, and long
# on less than four. The exit code is the number of parts that failed, and 2 with one line where there is no GPU or no OUT.
# shellcheck disable=SC2317  # the parts are called by their names
set -uo pipefail
here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
refuse() { echo "gpu.sh: $1" >&2; exit 2; }
[[ -n ${1:-} ]] || refuse "no folder for the results is named; usage: gpu.sh OUT [part...]"
gpus=$(nvidia-smi --list-gpus 2>/dev/null | grep -c '^GPU ')
((gpus > 0)) || refuse "no GPU was found: nvidia-smi --list-gpus lists none; run it on a machine with one"
out=$(mkdir -p "$1" && cd "$1" && pwd) || exit 2
shift
parts=("$@") several=()
((gpus == 1)) || several=(nccl torchrun faults)
((gpus < 4)) || several+=(long)
((${#parts[@]} > 0)) || parts=(doctor refusals smoke laws conformance exact charted wide windows triangles relations
  growth matrix ipc large "${several[@]}" reference scaling clean memcheck racecheck)
export RC_PARAMS=${RC_PARAMS:-seed=20261121} OMP_NUM_THREADS=${OMP_NUM_THREADS:-6}
export OMP_WAIT_POLICY=passive

# run NAME command...   a run of verify, its Result and what it printed. A GPU that stops at an error leaves OUT/core_PID, where
# `cuda-gdb -ex "target cudacore FILE"` finds the kernel.
run() {
  local name=$1
  shift
  CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1 CUDA_ENABLE_LIGHTWEIGHT_COREDUMP=1 CUDA_COREDUMP_FILE=$out/core_%p "$@" --json "$out/$name.json" >"$out/$name.txt" 2>&1
  local code=$?
  echo "$name: exit code $code, $(grep -E 'cases/s' "$out/$name.txt" | tail -1)"
  [[ ! -e $out/$name.json ]] || "$here/summary.py" "$out/$name.json" >"$out/$name.summary.json"
  # 6: a random case may show nothing; that is no alarm.
  ((code == 0 || (code == 6 && ${allow_inconclusive:-0})))
}
as_processes() { run "$1" "$here/run" ../ranks "$2" ringcheck verify --device cuda --world "$2" "${@:3}"; }  # NAME RANKS option...
on() { CUDA_VISIBLE_DEVICES=$1 "${@:2}"; }
verify=("$here/ringcheck" verify --device cuda)
processes=(--profile conformance --kernel "tiled,wgmma,plain,fa2,efficient,cudnn")
causal=("${verify[@]}" --dim 128 --dtype bf16 --mask causal --balance headtail --rotation p2p --world-kind thread)
long=("${causal[@]}" --world "$gpus" --heads 32 --kv-heads 8)
count=0

# later NAME GPUS command...   the same beside others, on these GPUs; all() waits for them
later() {
  count=$((count + 1))
  run "$1" on "${@:2}" &
}
all() {
  local failed=0 job
  for job in $(jobs -p); do wait "$job" || failed=1; done
  return "$failed"
}
next() { echo $((count % gpus)); }
# One summary of the runs NAME_...
together() {
  local file files=()
  for file in "$out/$1"_*.json; do [[ $file == *.summary.json ]] || files+=("$file"); done
  "$here/summary.py" "${files[@]}" >"$out/$1.summary.json"
}

doctor() { "$here/ringcheck" doctor --json "$out/doctor.json"; }
# What every kernel refuses: the list that reports/refusals is to hold for this architecture.
refusals() { "$here/ringcheck" refusals --device cuda --json "$out/refusals_cuda.json"; }
smoke() { run "gpu${gpus}_smoke" "${verify[@]}"; }
conformance() { run "gpu${gpus}_conformance" "${verify[@]}" --profile conformance; }
# Data whose answer is known without arithmetic.
exact() {
  local kernel
  for kernel in tiled wgmma,fa2; do
    later "gpu1_exact_${kernel%,*}" "$(next)" "${verify[@]}" --profile conformance --kernel "$kernel" \
      --world-kind thread --data census,equal-keys,flat,ones,routing,snap
  done
  all && together gpu1_exact
}
# Every shape that has a chart, on six seeds that its calibration had not seen.
charted() {
  local kernel failed=0
  for kernel in cudnn aten-cudnn fa2 efficient wgmma tiled plain; do
    run "gpu1_charted_$kernel" on 0 "${verify[@]}" --world-kind thread --world 4 --kernel "$kernel" \
      --dtype float32,bf16,fp16 --mask full,causal --data normal,spread3 --heads 4 --kv-heads 2 \
      --seq 256 --dim 32 --balance headtail --rotation p2p --seed 901,902,903,904,905,906 || failed=1
  done
  together gpu1_charted || failed=1
  return "$failed"
}
# Heads of more than 128 channels, of which `wgmma` computes more than one slice.
wide() {
  run gpu1_wide on 0 "${verify[@]}" --world-kind thread --world 2 --kernel wgmma,cudnn,cudnn-atomic,aten-cudnn \
    --dtype bf16,fp16 --mask full,causal --data normal,spread3 --heads 4 --kv-heads 2 --seq 500 --dim 8,128,136,256 --dim-v 64,192,256
}
# Windows through shards of 750 tokens: of what lies at their rear edge libraries see queries and keys in reverse order.
windows() {
  run gpu1_windows on 0 "${verify[@]}" --world-kind thread --world 4 --kernel cudnn,cudnn-atomic,fa2,efficient,wgmma,aten-cudnn \
    --dtype bf16,fp16,float32 --mask 'window[700]' --data normal,spread3 --heads 4 --kv-heads 2 --seq 3000 --dim 64 \
    --balance headtail,contiguous --rotation p2p,allgather
}
# Long causal blocks, which cuDNN's kernels cut into squares on the diagonal and rectangles before them.
triangles() {
  run gpu1_triangles on 0 "${verify[@]}" --world-kind thread --world 1,2 --kernel cudnn-atomic --dtype bf16 --mask causal \
    --data spread3 --heads 4 --kv-heads 2 --seq 50001,100000 --dim 128 --dim-v 64,128 --balance headtail,contiguous \
    --strategy ring:p2p,gathered,ulysses
}
# Processes over CUDA IPC, which may share a GPU.
ipc() {
  local world failed=0
  for world in 2 3 4; do
    as_processes "gpu${gpus}_ipc_$world" "$world" "${processes[@]}" --transport ipc || failed=1
  done
  return "$failed"
}
# Messages of megabytes, by every strategy and kind of ranks: of what is read too early, more is still under way.
large() {
  local failed=0 world=$((gpus > 1 ? gpus : 2)) cases=(--kernel wgmma --dtype bf16 --mask causal --data spread3
    --heads 32 --kv-heads 16 --seq 8K --dim 128 --balance "contiguous,headtail"
    --strategy 'ring:p2p,ring:alltoall,ring:allgather,gathered,ulysses,ulysses[2]')
  run "gpu${gpus}_large_threads" "${verify[@]}" "${cases[@]}" --world "$world" --world-kind thread || failed=1
  as_processes "gpu${gpus}_large_ipc" "$world" "${cases[@]}" --transport ipc || failed=1
  ((gpus == 1)) || as_processes "gpu${gpus}_large_nccl" "$world" "${cases[@]}" || failed=1
  return "$failed"
}
nccl() {
  local world failed=0
  for ((world = 2; world <= gpus; ++world)); do
    as_processes "gpu${world}_nccl" "$world" "${processes[@]}" || failed=1
  done
  return "$failed"
}
torchrun() {
  ((gpus > 1)) || { echo "torchrun: needs 2 GPUs"; return 1; }
  local failed=0 ranks=(command torchrun --no-python --nproc-per-node "$gpus" "${verify[@]}")
  run "gpu${gpus}_torchrun" "${ranks[@]}" || failed=1
  run "gpu${gpus}_torchrun_conformance" "${ranks[@]}" "${processes[@]}" --world "$gpus" || failed=1
  return "$failed"
}
# Every oracle there is, further runs included.
relations() {
  run "gpu${gpus}_all_oracles" "${verify[@]}" --oracles all --kernel tiled,wgmma,cudnn,fa2 \
    --rotation alltoall --world 2 --heads 4 --kv-heads 2 --seq 512 --dim 64 --dtype bf16
}
# What context parallelism adds to the error: four ranks beside one.
growth() {
  local kernel world kv_heads cases=()
  for kernel in cudnn fa2 tiled wgmma; do
    for world in 1 4; do
      for kv_heads in 32 8; do
        cases+=(--case "ring:p2p/headtail/$kernel/causal/thread/cuda/P$world/hq32/hkv$kv_heads/s8K/d128/bf16/normal")
      done
    done
  done
  run gpu1_error_growth on 0 "$here/ringcheck" verify "${cases[@]}" || return 1
  "$here/summary.py" --errors "$out/gpu1_error_growth.json" >"$out/gpu1_error_growth.summary.json"
}
# Planted bugs under the kernels: on each GPU one kernel and dtype after the other.
matrix() {
  local gpu failed=0 jobs=()
  for ((gpu = 0; gpu < gpus; ++gpu)); do
    matrix_on "$gpu" &
    jobs+=($!)
  done
  for gpu in "${jobs[@]}"; do wait "$gpu" || failed=1; done
  return "$failed"
}
matrix_on() {
  local i name code failed=0
  local pairs=(cudnn:bf16 fa2:bf16 wgmma:bf16 tiled:float32 cudnn:fp16 wgmma:fp16)
  for ((i = $1; i < ${#pairs[@]}; i += gpus)); do
    name=gpu1_faults_${pairs[i]%:*}_${pairs[i]#*:}
    on "$1" "$here/ringcheck" faults --device cuda --kernel "${pairs[i]%:*}" --dtype "${pairs[i]#*:}" \
      --jobs 8 --json "$out/$name.json" >"$out/$name.txt" 2>&1
    code=$?
    echo "$name: exit code $code, $(grep -E '^all dtypes' "$out/$name.txt")"
    ((code == 0)) || failed=1
  done
  return "$failed"
}
# A rank that is killed, and one that is stopped, beside others.
faults() {
  ((gpus > 1)) || { echo "faults: needs 2 GPUs"; return 1; }
  "$here/faults" "$out" cuda "$gpus" "$here/ringcheck"
}
# Long sequences: every bound at 128K tokens, a sample of each head at 1M.
long() {
  local failed=0
  run "gpu${gpus}_cudnn_32k" "${long[@]}" --kernel cudnn --seq 32K || failed=1
  run "gpu${gpus}_128k" "${long[@]}" --kernel wgmma --seq 128K || failed=1
  run "gpu${gpus}_1m_sampled" "${long[@]}" --kernel wgmma --seq 1M --sample 256 || failed=1
  return "$failed"
}
# 1M tokens, each element of each head. A second call with the same OUT goes on where the first one was ended.
million() {
  run "gpu${gpus}_1m" "${long[@]}" --kernel wgmma --seq 1M --resume "$out/1m_judged"
}
# One key head of it and its query heads: what a GPU does there at a time.
slice() {
  run gpu1_1m_slice on 0 "${causal[@]}" --world 4 --heads 4 --kv-heads 1 --kernel wgmma --seq 1M --resume "$out/1m_slice_judged"
}
# The float64 reference: its plain passes, the fused ones, truth with every bound.
reference() {
  on 0 "$here/run" ringcheck_bench --benchmark_filter='(reference|verification)/.*cuda' --benchmark_repetitions=3 \
    --json "$out/gpu1_reference.json" >"$out/gpu1_reference.txt" 2>&1
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
  return "$failed"
}
run_scaling() {
  "${@:2}" --json "$out/$1.json" >"$out/$1.txt" 2>&1
  local code=$?
  echo "$1: exit code $code"
  return "$code"
}
# 5000 random cases, a run on each GPU.
clean() {
  local seed
  allow_inconclusive=1
  for ((seed = 1; seed <= gpus; ++seed)); do
    later "gpu1_clean_$seed" "$(next)" "${verify[@]}" --clean $((${RINGCHECK_CLEAN:-5000} / gpus)) "$seed"
  done
  all
}
laws() {
  local failed=0 program
  for program in "$here"/bin/*_laws "$here"/bin/*_test; do
    program=$(basename -- "$program")
    RINGCHECK_TEST_DEVICE=cuda timeout $((300 * gpus)) "$here/run" "$program" >"$out/$program.log" 2>&1
    case $? in
      0) continue ;;
      77) echo "$program: nothing of it runs on $gpus GPU" && continue ;;
    esac
    failed=1
    echo "$program failed" && grep -E "FAILED|Falsifiable|what\(\)" -A12 "$out/$program.log" | head -40
  done
  return "$failed"
}
# Our kernels under the sanitizers: by name, or every other one would be as slow. Every finding makes the exit code of a sanitizer 9.
sanitizer=(compute-sanitizer --target-processes all --error-exitcode 9 --kernel-name kns=ringcheck)
# The smoke profile under memcheck. Three parts a GPU at a time: of ten, workers did not start in time.
memcheck() {
  local part failed=0 running=0
  for part in tiled:float64 tiled:float32 tiled:bf16 tiled:fp16 wgmma:bf16,fp16 \
    plain:float64,float32,bf16,fp16 cudnn,aten-cudnn:bf16,fp16 fa2,efficient:float32,bf16,fp16; do
    count=$((count + 1))
    if ((running == 3 * gpus)); then
      wait -n || failed=1
      running=$((running - 1))
    fi
    sanitized memcheck "${part%:*}" "${part#*:}" --profile smoke &
    running=$((running + 1))
  done
  for (( ; running > 0; --running)); do wait -n || failed=1; done
  return "$failed"
}
# Under racecheck, which loses track of what several threads of a process launch at once: cases of one rank, one judged on the GPU, and laws.
racecheck() {
  local part failed=0 alone=(--world-kind thread --world 1 --data spread3 --balance contiguous --rotation p2p)
  for part in wgmma:bf16,fp16 tiled:float64,float32 tiled:bf16,fp16 plain:float64,float32,bf16,fp16; do
    count=$((count + 1))
    sanitized racecheck "${part%:*}" "${part#*:}" "${alone[@]}" --mask 'full,causal,window[37]' \
      --heads 4 --kv-heads 2,4 --seq 300 --dim 40,128,256 &
  done
  all || failed=1
  sanitized racecheck tiled float32 "${alone[@]}" --mask causal --heads 2 --kv-heads 2 --seq 1500 --dim 64 --dim-v 64 --batch 1 || failed=1
  for part in kernel_laws kernel_gradient_laws; do
    RINGCHECK_TEST_DEVICE=cuda "${sanitizer[@]}" --tool racecheck "$here/run" "$part" >"$out/racecheck_$part.log" 2>&1 || failed=1
    echo "racecheck $part: $(grep -hE 'PASSED|FAILED|SUMMARY' "$out/racecheck_$part.log" | tr '\n' ' ')"
  done
  return "$failed"
}
# sanitized TOOL KERNELS DTYPES option...   these cases; every process under the tool says that it
# found nothing, and every case passes.
sanitized() {
  local log=$out/$1_$2_$3
  RINGCHECK_WRAP="${sanitizer[*]} --tool $1" \
    on "$(next)" "${verify[@]}" "${@:4}" --kernel "$2" --dtype "$3" --deadline 300 \
    --json "$log.json" >"$log.log" 2>&1
  local code=$? found
  found=$(grep -hE "ERROR SUMMARY|RACECHECK SUMMARY" "$log.log" | sed 's/^=* *//' | sort | uniq -c)
  echo "$1 $2 $3: exit code $code, $(grep -E 'cases/s' "$log.log" | tail -1) ${found//$'\n'/ }"
  ((code == 0)) && [[ -n $found ]] && ! grep -hE "SUMMARY" "$log.log" | grep -qvE "SUMMARY: 0 "
}

failed=0
for part in "${parts[@]}"; do
  begin=$SECONDS
  if "$part"; then verdict=passed; else verdict=FAILED failed=$((failed + 1)); fi
  echo "== $part: $verdict, $((SECONDS - begin)) s"
done
exit $failed
