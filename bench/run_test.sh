#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# bench/run_test.sh   bench/run.sh with programs that only say how they were called: its cases, what it refuses, its exit codes.
set -uo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." || exit 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
wrong=0
fail() {
  echo "bench/run.sh test: $*" >&2
  wrong=1
}

# `run` and `torchrun` note their words, and write a result where they are told to, but of a case that is in `broken`.
mkdir "$scratch/bundle" "$scratch/bin"
cat >"$scratch/bundle/run" <<'PROGRAM'
#!/usr/bin/env bash
echo "$(basename "$0") $*" >>"$BENCH_TEST/calls"
[[ ! -e $BENCH_TEST/broken || $* != *"$(cat "$BENCH_TEST/broken")"* ]] || { echo "told to fail" >&2; exit 1; }
[[ ! -e $BENCH_TEST/slow ]] || sleep 30
while [[ $1 != --json && $1 != -o ]]; do shift; done
cp "$BENCH_TEST/result.json" "$2"
PROGRAM
# shellcheck disable=SC2016  # it is to be read there
printf '#!/usr/bin/env bash\nfor ((i = 0; i < BENCH_TEST_GPUS; ++i)); do echo "GPU $i: none"; done\n' >"$scratch/bin/nvidia-smi"
# shellcheck disable=SC2016
printf '#!/usr/bin/env bash\n[[ $1 == -c ]] && exit 0\nexec %s "$@"\n' "$(command -v python3)" >"$scratch/bin/python3"
cp "$scratch/bundle/run" "$scratch/bin/torchrun"
cp "$scratch/bundle/run" "$scratch/bundle/ringcheck"
chmod +x "$scratch"/b*/*
cp reports/results/speed/h100_gpu2_pytorch_256k.json "$scratch/result.json"
export BENCH_TEST=$scratch RINGCHECK_BUNDLE=$scratch/bundle PATH=$scratch/bin:$PATH

# ends CODE GPUS TEXT word...   how it ends on so many GPUs, and a part of what it says
ends() {
  local code said
  rm -rf "$scratch/calls" "$scratch/out"
  said=$(BENCH_TEST_GPUS=$2 bench/run.sh "${@:4}" 2>&1)
  code=$?
  [[ $code == "$1" ]] || fail "'${*:4}' on $2 GPUs ends with $code, not $1: $said"
  [[ $said == *"$3"* ]] || fail "'${*:4}' on $2 GPUs does not say '$3': $said"
}
called() { grep -q -- "$1" "$scratch/calls" || fail "nothing was called as '$1'"; }
not_called() { ! grep -q -- "$1" "$scratch/calls" || fail "something was called as '$1'"; }

ends 2 2 "no folder for the results"
ends 2 0 "no GPU" "$scratch/out"
for table in "" 32 32/8 x/8/8K 32/0/8K 32/8/8G 32/8/8K/1 32/8/-8K 99999999999/8/8K; do
  ends 2 2 "table '$table' is not QUERY_HEADS/KEY_HEADS/TOKENS" "$scratch/out" 32/8/8K "$table"
done
ends 2 2 "32 query heads are no multiple of 7 key heads" "$scratch/out" 32/7/8K
ends 2 3 "8192 tokens do not go into 6 chunks" "$scratch/out" 32/8/8K
ends 2 2 "cannot write into" /dev/null/out 32/8/8K
[[ ! -e $scratch/calls ]] || fail "it ran something before it refused"
RINGCHECK_DEADLINE=soon ends 2 2 "RINGCHECK_DEADLINE 'soon'" "$scratch/out" 32/8/8K
RINGCHECK_BUNDLE=$scratch ends 2 2 "no bundle in" "$scratch/out" 32/8/8K

ends 0 2 "### 32 query and 32 key heads of 128, 256K tokens" "$scratch/out" 32/32/8K
for kernel in cudnn-atomic wgmma; do
  for strategy in 'ulysses\[4\]' ring:p2p gathered; do
    called "run ringcheck_scaling --pairs 10 .*$strategy/headtail/$kernel/causal/thread/cuda/P2/hq32/hkv32/s8192/d128/bf16"
  done
done
called "run ../ranks 2 ringcheck_scaling .*--launch calls,graph .*ulysses/headtail"
called "run ../ranks 2 ringcheck_scaling .*--transport ipc .*ulysses/headtail"
called "torchrun .*--nproc-per-node 2 .*bench/peers/pytorch.py --heads 32 --seq 8192 .*cudnn,flash"
called "torchrun .*bench/peers/rings.py"
for name in threads nccl ipc pytorch rings; do
  [[ -e $scratch/out/tables/gpu2_32_32_8K_$name.json ]] || fail "no result tables/gpu2_32_32_8K_$name.json"
  [[ -e $scratch/out/gpu2_$name.json ]] || fail "no result gpu2_$name.json"
done
# Several tables are joined.
ends 0 2 "" "$scratch/out" 32/8/8K 32/8/32K
called "ringcheck report join -o $scratch/out/gpu2_threads.json $scratch/out/tables/gpu2_32_8_32K_threads.json $scratch/out/tables/gpu2_32_8_8K_threads.json"
# Heads that do not go round, and peers without grouped heads.
ends 0 4 "" "$scratch/out" 8/4/8K
called "ulysses/headtail"
not_called 'ulysses\[2\]'
not_called torchrun
# One GPU, and long sequences.
ends 0 1 "" "$scratch/out" 32/32/32K
called "run ringcheck_scaling --pairs 10 --sample 64 --launch calls,graph .*ring:p2p/headtail/wgmma/causal/thread/cuda/P1/"
not_called ranks
ends 0 2 "" "$scratch/out" 32/32/1M
called "--pairs 3 --sample 16 --groups-alone 2 .*s1048576"
not_called torchrun
CUDA_VISIBLE_DEVICES=1,3 ends 0 4 "" "$scratch/out" 32/8/64K
called "/cuda/P2/"
CUDA_VISIBLE_DEVICES=0,1,2 ends 2 2 "names more than the 2 GPUs" "$scratch/out" 32/8/64K
# What fails is said, and the rest is measured; what hangs is ended.
echo "--transport ipc" >"$scratch/broken"
ends 1 2 "told to fail" "$scratch/out" 32/32/8K
called torchrun
echo nothing >"$scratch/broken"
touch "$scratch/slow"
RINGCHECK_DEADLINE=1 ends 1 1 "exit code 124" "$scratch/out" 32/8/64K
((wrong)) || echo "bench/run.sh: cases, refusals and exit codes are as they should be"
exit $wrong
