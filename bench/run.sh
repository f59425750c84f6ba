#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# bench/run.sh OUT [TABLE...]   measures tables of docs/performance.md, in one sitting, on the GPUs of this machine or on those
# that CUDA_VISIBLE_DEVICES names: RingCheck's strategies as threads and as processes, verified and then timed beside one GPU,
# and what PyTorch, ring-flash-attn and yunchang do there, as far as they are installed. A TABLE is QUERY_HEADS/KEY_HEADS/TOKENS,
# as 32/8/32K; without any: 32/32 heads at 8K, 32K, 128K and 256K tokens, 32/8 at 32K and 128K, 64/8 at 32K. It prints them.
# OUT/tables gets a result for each program and table, and may have those of earlier calls; OUT one for each program, of all
# tables. Needs a bundle (ci/bundle.sh) in build/bundle, or where RINGCHECK_BUNDLE says; a program ends after RINGCHECK_DEADLINE
# seconds (300). OUT/traces gets what the GPUs did in a pass of each, up to 32K tokens. Exit code: 0; 1 something failed, and the tables lack it; 2 bad input, and nothing was run.
set -ufo pipefail  # ulysses[2] is no pattern
shopt -s nullglob
bench=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
bundle=${RINGCHECK_BUNDLE:-$bench/../build/bundle} deadline=${RINGCHECK_DEADLINE:-300}

# Tokens up to which
judge_all_to=8192   # every element of a case is judged, and not a sample of its rows
short_to=32768      # there are ten samples, of every strategy and kernel, of processes and graphs, too, and traces
middle_to=131072    # there are five, and not three
alone_to=262144     # one GPU computes all heads, and not two
peers_to=524288     # PyTorch has the memory, for 32 heads on four GPUs of 80 GB

refuse() {
  echo "bench/run.sh: $*" >&2
  exit 2
}

# Sets gpus, to those that CUDA will see.
count_gpus() {
  local there word words seen=" "
  there=$(nvidia-smi --list-gpus 2>/dev/null | grep -c ^GPU)
  ((there > 0)) || refuse "nvidia-smi lists no GPU; run it on a machine with one"
  gpus=$there
  [[ -n ${CUDA_VISIBLE_DEVICES+set} ]] || return
  IFS=, read -ra words <<<"$CUDA_VISIBLE_DEVICES"
  for word in "${words[@]}"; do
    if [[ $seen == *" $word "* || ! $word =~ ^(GPU-.*|[0-9]{1,3})$ ]] || { [[ $word != GPU-* ]] && ((10#$word >= there)); }; then
      refuse "CUDA_VISIBLE_DEVICES '$CUDA_VISIBLE_DEVICES': '$word' is not one of the $there GPUs, or comes twice; use numbers below $there"
    fi
    seen+="$word "
  done
  gpus=${#words[@]}
  ((gpus > 0)) || refuse "CUDA_VISIBLE_DEVICES '' hides all $there GPUs; unset it, or name some"
}

# problem TABLE   sets query_heads, key_heads and tokens, and the name of the table
problem() {
  local unit=1
  [[ $1 =~ ^([1-9][0-9]{0,3})/([1-9][0-9]{0,3})/([1-9][0-9]{0,8})([KM]?)$ ]] ||
    refuse "table '$1' is not QUERY_HEADS/KEY_HEADS/TOKENS; use one like 32/8/32K"
  case ${BASH_REMATCH[4]} in K) unit=1024 ;; M) unit=1048576 ;; esac
  query_heads=${BASH_REMATCH[1]} key_heads=${BASH_REMATCH[2]} tokens=$((BASH_REMATCH[3] * unit))
  name=gpu${gpus}_hq${query_heads}_hkv${key_heads}_s$tokens
  ((query_heads % key_heads == 0)) ||
    refuse "table '$1': $query_heads query heads are no multiple of $key_heads key heads; use 32/8/32K or 32/32/32K"
  ((tokens % (2 * gpus) == 0)) ||
    refuse "table '$1': $tokens tokens do not go into $((2 * gpus)) chunks, two for each GPU; use a multiple of that"
}

# Whether the heads of the table can be dealt to the ranks in so many groups.
goes_into() { ((key_heads % (gpus * $1) == 0)); }

# strategies WORD...   those that can deal them
strategies() {
  local strategy
  for strategy; do
    if [[ $strategy =~ ^ulysses(\[(.*)\])?$ ]]; then goes_into "${BASH_REMATCH[2]:-1}" || continue; fi
    echo "$strategy"
  done
}

# measured PROGRAM command...   writes OUT/tables/NAME_PROGRAM.json; what it says goes into a .txt beside it
child=
trap '[[ -z $child ]] || kill "$child" 2>/dev/null; wait; exit 130' INT TERM
measured() {
  local file=$out/tables/${name}_$1 begin=$SECONDS code
  rm -f "$file.json"
  timeout -k 10 "$deadline" "${@:2}" --json "$file.json" >/dev/null 2>"$file.txt" &
  child=$!
  wait "$child"
  code=$? child=
  echo "${name}_$1: exit code $code, $((SECONDS - begin)) s"
  ((code == 0)) && return
  tail -3 "$file.txt" | cut -c1-300 >&2
  ((code != 124)) || echo "bench/run.sh: it was ended after $deadline s; RINGCHECK_DEADLINE says how long a program may take" >&2
  failed=1
}

# timed PROGRAM KERNELS STRATEGIES command...   ringcheck_scaling, started by the command, of each kernel with each strategy; `how`
# has further options
timed() {
  local kernel strategy cases=()
  for kernel in $2; do
    for strategy in $3; do
      cases+=(--case "$strategy/headtail/$kernel/causal/thread/cuda/P$gpus/hq$query_heads/hkv$key_heads/s$tokens/d128/bf16")
    done
  done
  measured "$1" "$bundle/run" "${@:4}" "${how[@]}" "${cases[@]}"
}

ours() {
  local how=(--pairs 10 --trace "$out/traces") graphs=(--launch "calls,graph") few
  ((tokens <= judge_all_to)) || how+=(--sample 64)
  ((tokens <= short_to)) || how=(--pairs 5 --sample 64) graphs=()
  ((tokens <= middle_to)) || how=(--pairs 3 --sample 16)
  ((tokens <= alone_to || key_heads < 2)) || how+=(--groups-alone 2)
  if ((gpus == 1)); then
    timed threads "wgmma cudnn-atomic cudnn" ring:p2p ringcheck_scaling "${graphs[@]}"
  elif ((tokens > short_to)); then
    few=$(strategies "ulysses[2]" "ulysses[4]")
    timed threads cudnn-atomic "${few:-$(strategies ulysses)} ring:p2p" ringcheck_scaling
  else
    few=$(strategies ulysses "ulysses[2]" "ulysses[4]" ring:p2p)
    timed threads "cudnn-atomic wgmma" "$few $(strategies ring:allgather gathered)" ringcheck_scaling
    timed nccl "cudnn-atomic wgmma" "$few" ../ranks "$gpus" ringcheck_scaling "${graphs[@]}"
    timed ipc "cudnn-atomic wgmma" "$few" ../ranks "$gpus" ringcheck_scaling --transport ipc "${graphs[@]}"
  fi
}

# peer PROGRAM MODULES argument...   bench/peers/PROGRAM.py, where Python has one of the modules
peer() {
  # shellcheck disable=SC2086  # words
  if python3 -c 'import importlib.util as u, sys; sys.exit(not any(u.find_spec(name) for name in sys.argv[1:]))' $2; then
    measured "$1" python3 -m torch.distributed.run --standalone --nproc-per-node "$gpus" "$bench/peers/$1.py" \
      --heads "$query_heads" --seq "$tokens" "${@:3}"
  else
    echo "${name}_$1: left out, python3 has no ${2// /, no }"
  fi
}

# They take no grouped heads.
peers() {
  local how=() kernels=cudnn,flash
  ((query_heads == key_heads && tokens <= peers_to)) || return 0
  ((tokens <= short_to)) || how=(--passes 5 --judged-heads 1) kernels=cudnn
  ((tokens <= middle_to)) || how=(--passes 3 --judged-heads 0)
  ((tokens <= alone_to || query_heads < 2)) || how+=(--heads-alone 2)
  peer pytorch torch "${how[@]}" --kernels "$kernels"
  ((gpus > 1 && tokens <= short_to)) || return 0
  if goes_into 1; then
    peer rings "ring_flash_attn yunchang"
  else
    echo "${name}_rings: left out, $query_heads heads do not go round $gpus GPUs"
  fi
}

# One result for each program, of all tables.
together() {
  local program file files
  for program in threads nccl ipc pytorch rings; do
    file=$out/gpu${gpus}_$program.json
    rm -f "$file"
    set +f
    files=("$out/tables/gpu${gpus}_"*"_$program.json")
    set -f
    if ((${#files[@]} == 1)); then
      cp -- "${files[0]}" "$file"
    elif ((${#files[@]} > 1)) && ! "$bundle/ringcheck" report join -o "$file" "${files[@]}"; then
      echo "bench/run.sh: no $file; its tables stay apart. Use another folder, or delete what is of another commit in $out/tables" >&2
      failed=1
    fi
  done
}

[[ -n ${1:-} ]] || refuse "no folder for the results; use bench/run.sh OUT [TABLE...]"
[[ -x $bundle/run ]] || refuse "no bundle in $bundle; make one by ci/bundle.sh, or say where it is by RINGCHECK_BUNDLE"
[[ $deadline =~ ^[1-9][0-9]{0,5}$ ]] || refuse "RINGCHECK_DEADLINE '$deadline' is no number of seconds; use one, as 300"
count_gpus
tables=("${@:2}") names=" "
((${#tables[@]} > 0)) || tables=(32/32/8K 32/32/32K 32/8/32K 64/8/32K 32/32/128K 32/8/128K 32/32/256K)
for table in "${tables[@]}"; do
  problem "$table"
  [[ $names != *" $name "* ]] || refuse "table '$table' comes twice; name it once"
  names+="$name "
done
if ! mkdir -p -- "$1/tables" || ! out=$(cd -- "$1" && pwd) || [[ ! -w $out || ! -w $out/tables ]]; then
  refuse "cannot write into '$1'; use a folder that can be written"
fi

export OMP_WAIT_POLICY=passive  # threads that wait leave the processor to those that queue work
failed=0
for table in "${tables[@]}"; do
  problem "$table"
  ours
  peers
done
together
"$bench/../ci/performance.py" --of "$out/tables" || failed=1
exit "$failed"
