#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# bench/run_test.sh   bench/run.sh with programs that only say how they were called: its cases, what it refuses, its exit codes.
set -uo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." || exit 2
unset CUDA_VISIBLE_DEVICES RINGCHECK_DEADLINE
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
wrong=0
fail() {
  echo "bench/run.sh test: $*" >&2
  wrong=1
}

# All of them note their words and write a result where they are told to, unless they are called as the file `broken` has it:
# then they say why, and print more, as ringcheck_scaling does.
mkdir "$scratch/bundle" "$scratch/bin"
cat >"$scratch/bundle/run" <<'PROGRAM'
#!/usr/bin/env bash
echo "$(basename "$0") $*" >>"$BENCH_TEST/calls"
if [[ -e $BENCH_TEST/broken && "$(basename "$0") $*" == *"$(cat "$BENCH_TEST/broken")"* ]]; then
  echo "told to fail" >&2
  printf '{\n\n\n\n}\n'
  exit 1
fi
[[ ! -e $BENCH_TEST/slow ]] || exec sleep 30
while [[ $1 != --json && $1 != -o ]]; do shift; done
cp "$BENCH_TEST/result.json" "$2"
PROGRAM
# shellcheck disable=SC2016  # it is to be read there
printf '#!/usr/bin/env bash\nfor ((i = 0; i < BENCH_TEST_GPUS; ++i)); do echo "GPU $i: none"; done\n' >"$scratch/bin/nvidia-smi"
cat >"$scratch/bin/python3" <<PROGRAM
#!/usr/bin/env bash
case \$1 in
  -c) for name in "\${@:3}"; do [[ \$name == "\$(cat "$scratch/missing" 2>/dev/null)" ]] || exit 0; done; exit 1 ;;
  -m) exec "$scratch/bin/torchrun" "\$@" ;;
esac
exec "$(python3 -c 'import sys; print(sys.executable)')" "\$@"
PROGRAM
cp "$scratch/bundle/run" "$scratch/bundle/ringcheck"
cp "$scratch/bundle/run" "$scratch/bin/torchrun"
chmod +x "$scratch"/b*/*
cat >"$scratch/result.json" <<'RESULT'
{"kind": "scaling", "environment": {"device": "2 x GPU, of a test", "commit": "0123456789", "command": "ringcheck_scaling",
  "started": "2026-01-01T00:00:00Z", "version": "0"},
 "measurements": [{"name": "tflops_per_device", "samples": [100, 1, 4, 3, 2], "parts": {"heads": "32", "kv_heads": "8", "seq": "8192",
  "dim": "128", "dim_v": "128", "dtype": "bf16", "mask": "causal", "subject": "ours", "strategy": "ulysses", "kernel": "wgmma",
  "world_kind": "thread", "devices": "2"}}, {"name": "forward_tflops_per_device", "samples": [7, 9, 8], "parts": {"heads": "32",
  "kv_heads": "8", "seq": "8192", "dim": "128", "dim_v": "128", "dtype": "bf16", "mask": "causal", "subject": "ours",
  "strategy": "ulysses", "kernel": "wgmma", "world_kind": "thread", "devices": "2"}}]}
RESULT
export BENCH_TEST=$scratch RINGCHECK_BUNDLE=$scratch/bundle PATH=$scratch/bin:$PATH

# again CODE GPUS TEXT word...   how it ends on so many GPUs, and a part of what it says; what it refuses, it refuses at once
again() {
  local code said
  rm -f "$scratch/calls"
  said=$(BENCH_TEST_GPUS=$2 bench/run.sh "${@:4}" 2>&1)
  code=$?
  [[ $code == "$1" ]] || fail "'${*:4}' on $2 GPUs ends with $code, not $1: $said"
  [[ $said == *"$3"* ]] || fail "'${*:4}' on $2 GPUs does not say '$3': $said"
  ((code != 2)) || [[ ! -e $scratch/calls ]] || fail "'${*:4}' on $2 GPUs ran something before it was refused"
}
# The same into an empty folder.
ends() {
  rm -rf "$out"
  again "$@"
}
called() { grep -q -- "$1" "$scratch/calls" || fail "nothing was called as '$1'"; }
not_called() { ! grep -q -- "$1" "$scratch/calls" || fail "something was called as '$1'"; }
# cases N WORDS   how many there are in the call that has these words
cases() {
  local found
  found=$(grep -- "$2" "$scratch/calls" | grep -o -- '--case ' | wc -l)
  ((found == $1)) || fail "'$2' was called with $found cases, not $1"
}

out=$scratch/out
ends 2 2 "no folder for the results"
ends 2 2 "no folder for the results" "" 32/8/8K
ends 2 0 "nvidia-smi lists no GPU" "$out"
for table in "" 32 32/8 x/8/8K 32/0/8K 32/8/8G 32/8/8K/1 32/8/8K/ 32K/8K/8K 32/8/-8K 99999999999/8/8K; do
  ends 2 2 "table '$table' is not QUERY_HEADS/KEY_HEADS/TOKENS" "$out" 32/8/8K "$table"
done
ends 2 2 "32 query heads are no multiple of 7 key heads" "$out" 32/7/8K
ends 2 3 "8192 tokens do not go into 6 chunks" "$out" 32/8/8K
ends 2 4 "4100 tokens do not go into 8 chunks" "$out" 32/8/4100
ends 2 2 "table '32/8/8192' comes twice" "$out" 32/8/8K 32/8/8192
ends 2 2 "cannot write into '/dev/null/out'" /dev/null/out 32/8/8K
RINGCHECK_DEADLINE=soon ends 2 2 "RINGCHECK_DEADLINE 'soon'" "$out" 32/8/8K
RINGCHECK_BUNDLE=$scratch ends 2 2 "no bundle in" "$out" 32/8/8K
for visible in 2 -1 0,0 0,2 x; do CUDA_VISIBLE_DEVICES=$visible ends 2 2 "not one of the 2 GPUs, or comes twice" "$out" 32/8/8K; done
CUDA_VISIBLE_DEVICES='' ends 2 2 "hides all 2 GPUs" "$out" 32/8/8K
CUDA_VISIBLE_DEVICES=1,3 ends 0 4 "" "$out" 32/8/64K
called "/cuda/P2/hq32/hkv8/s65536/"

# Programs, strategies and kernels of a short table, and what is printed: the median with half of the middle half.
ends 0 2 "threads | 8 | - | 3 ±1 | - |" "$out" 32/32/8K
called "run ringcheck_scaling --pairs 10 --trace $out/traces --case ulysses/headtail/cudnn-atomic/causal/thread/cuda/P2/hq32/hkv32/s8192/d128/bf16 "
for kernel in cudnn-atomic wgmma; do
  for strategy in 'ulysses\[2\]' 'ulysses\[4\]' ring:p2p ring:allgather gathered; do
    called "run ringcheck_scaling .*$strategy/headtail/$kernel/"
  done
done
cases 12 "run ringcheck_scaling"
cases 8 "run ../ranks 2 ringcheck_scaling --launch calls,graph --pairs 10 "
cases 8 "run ../ranks 2 ringcheck_scaling --transport ipc --launch calls,graph --pairs 10 "
called "nproc-per-node 2 .*bench/peers/pytorch.py --heads 32 --seq 8192 --kernels cudnn,flash"
called "nproc-per-node 2 .*bench/peers/rings.py --heads 32 --seq 8192"
for program in threads nccl ipc pytorch rings; do
  [[ -e $out/tables/gpu2_hq32_hkv32_s8192_$program.json ]] || fail "no result of $program in the folder of tables"
  [[ -e $out/gpu2_$program.json ]] || fail "no result gpu2_$program.json"
done
# What failed this time is not what was there before; the rest is measured, and the reason told.
echo "rings.py" >"$scratch/broken"
again 1 2 "told to fail" "$out" 32/32/8K
[[ ! -e $out/tables/gpu2_hq32_hkv32_s8192_rings.json && ! -e $out/gpu2_rings.json ]] || fail "the result of a program that failed is an older one"
# A second table is joined with the first.
echo nothing >"$scratch/broken"
again 0 2 "" "$out" 32/32/16K
tables=$out/tables/gpu2_hq32_hkv32
called "ringcheck report join -o $out/gpu2_threads.json ${tables}_s16384_threads.json ${tables}_s8192_threads.json"
echo "report join" >"$scratch/broken"
again 1 2 "its tables stay apart" "$out" 32/32/16K
rm "$scratch/broken"

# Heads that do not go round, and grouped ones, which peers do not take.
ends 0 4 "" "$out" 8/4/8K
cases 8 "run ringcheck_scaling"
called "ulysses/headtail"
not_called 'ulysses\[2\]'
not_called torchrun
ends 0 4 "left out, 6 heads do not go round 4 GPUs" "$out" 6/6/8K
not_called rings.py
# What is not installed.
echo torch >"$scratch/missing"
ends 0 2 "pytorch: left out, python3 has no torch" "$out" 32/32/8K
not_called pytorch.py
called rings.py
rm "$scratch/missing"
# One GPU, long sequences, the longest.
ends 0 1 "" "$out" 32/32/32K
for kernel in wgmma cudnn-atomic cudnn; do
  called "run ringcheck_scaling --launch calls,graph --pairs 10 --trace $out/traces --sample 64 .*ring:p2p/headtail/$kernel/causal/thread/cuda/P1/"
done
cases 3 "run ringcheck_scaling"
not_called "ranks\|rings.py"
ends 0 2 "" "$out" 32/32/128K
cases 3 "run ringcheck_scaling --pairs 5 --sample 64 --case ulysses\[2\]/headtail/cudnn-atomic/.*--case ulysses\[4\]/headtail/cudnn-atomic/.*--case ring:p2p/"
called "pytorch.py --heads 32 --seq 131072 --passes 5 --judged-heads 1 --kernels cudnn "
not_called "ranks\|rings.py\|wgmma"
ends 0 4 "" "$out" 4/4/256K
cases 2 "run ringcheck_scaling --pairs 3 --sample 16 --case ulysses/"
ends 0 2 "" "$out" 32/32/512K
called "ringcheck_scaling --pairs 3 --sample 16 --groups-alone 2 "
called "pytorch.py --heads 32 --seq 524288 --passes 3 --judged-heads 0 --heads-alone 2 "
ends 0 2 "" "$out" 32/32/1M
called "--groups-alone 2 .*s1048576"
not_called torchrun
ends 0 1 "" "$out" 1/1/512K
not_called "heads-alone\|groups-alone"
# Without a table, and in a folder of a name that a pattern could be.
ends 0 2 "hq64_hkv8_s32768_ipc: exit code 0" "$out"
cases 121 .
out="$scratch/o[1]"
ends 0 2 "3 ±1" "$out" 32/8/64K
[[ -e $out/gpu2_threads.json ]] || fail "no result in a folder with brackets"
# What hangs is ended, by the deadline, and with the script.
touch "$scratch/slow"
RINGCHECK_DEADLINE=1 ends 1 1 "it was ended after 1 s" "$out" 32/8/64K
BENCH_TEST_GPUS=1 bench/run.sh "$out" 32/8/64K >/dev/null 2>&1 &
script=$!
sleep 1
kill -TERM "$script"
begin=$SECONDS
wait "$script"
code=$?
((code == 130 && SECONDS - begin < 5)) || fail "told to end, it ends with $code after $((SECONDS - begin)) s"
((wrong)) || echo "bench/run.sh: cases, refusals and exit codes are as they should be"
exit $wrong
