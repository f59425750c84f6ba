#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# bench/run.sh OUT [TABLE...]   measures tables of docs/performance.md, in one sitting, on the GPUs of this machine or on those
# that CUDA_VISIBLE_DEVICES names: RingCheck's strategies as threads and as processes, verified and then timed beside one GPU,
# and what PyTorch, ring-flash-attn and yunchang do there, as far as they are installed. A TABLE is QUERY_HEADS/KEY_HEADS/TOKENS,
# as 32/8/32K; without any: those up to 256K tokens with 32 and 64 heads. OUT gets a result for each program, of all tables, which
# `ci/performance.py --of OUT` prints; OUT/tables those of each table, also of earlier calls. Needs a bundle (ci/bundle.sh) in build/bundle, or where RINGCHECK_BUNDLE says;
# a program ends after RINGCHECK_DEADLINE seconds (300). Exit code: 0; 1 something failed, and the tables lack it; 2 bad input,
# and nothing was run.
set -uo pipefail
bench=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
bundle=${RINGCHECK_BUNDLE:-$bench/../build/bundle} deadline=${RINGCHECK_DEADLINE:-300}
whole_to=8192      # tokens up to which every element of a case is judged, and not a sample of them
graphs_to=32768    # tokens up to which a pass is timed as a graph, too, and by every kernel and strategy
five_to=131072     # up to which there are five samples, and not three
alone_to=262144    # up to which one GPU computes all heads, and not two of them
peers_to=524288    # up to which PyTorch has the memory, of 32 heads on four GPUs of 80 GB

refuse() {
  echo "bench/run.sh: $*" >&2
  exit 2
}

# number WORD   4096, 32K or 1M in digits; nothing, where it is none
number() {
  [[ $1 =~ ^([1-9][0-9]{0,8})([KM]?)$ ]] || return 1
  local unit=1
  case ${BASH_REMATCH[2]} in K) unit=1024 ;; M) unit=1048576 ;; esac
  echo $((BASH_REMATCH[1] * unit))
}

# problem TABLE   sets query_heads, key_heads and tokens
problem() {
  IFS=/ read -r query_heads key_heads tokens rest <<<"$1"
  if ! { [[ -z $rest ]] && query_heads=$(number "$query_heads") && key_heads=$(number "$key_heads") && tokens=$(number "$tokens"); }; then
    refuse "table '$1' is not QUERY_HEADS/KEY_HEADS/TOKENS; use one like 32/8/32K"
  fi
  ((query_heads % key_heads == 0)) ||
    refuse "table '$1': $query_heads query heads are no multiple of $key_heads key heads; use 32/8/32K or 32/32/32K"
  ((tokens % (2 * gpus) == 0)) ||
    refuse "table '$1': $tokens tokens do not go into $((2 * gpus)) chunks, two for each GPU; use a multiple of that"
}

# strategies WORD...   those that can deal the heads of the table to the ranks
strategies() {
  local strategy groups
  for strategy; do
    groups=1
    [[ $strategy =~ ^ulysses\[(.*)\]$ ]] && groups=${BASH_REMATCH[1]}
    [[ $strategy != ulysses* ]] || ((key_heads % (gpus * groups) == 0)) || continue
    echo "$strategy"
  done
}

# cases KERNELS STRATEGIES   the options that name them, a word a line
cases() {
  local kernel strategy
  for kernel in $1; do
    for strategy in $2; do
      printf '%s\n' --case "$strategy/headtail/$kernel/causal/thread/cuda/P$gpus/hq$query_heads/hkv$key_heads/s$tokens/d128/bf16"
    done
  done
}

# measured NAME command...   a program that writes OUT/tables/NAME.json; its output goes into OUT/tables/NAME.txt
measured() {
  local name=$1 begin=$SECONDS code
  rm -f "$out/tables/$name.json"
  timeout -k 10 "$deadline" "${@:2}" --json "$out/tables/$name.json" >"$out/tables/$name.txt" 2>&1
  code=$?
  echo "$name: exit code $code, $((SECONDS - begin)) s"
  ((code == 0)) && return
  tail -3 "$out/tables/$name.txt" | cut -c1-300 >&2
  failed=1
}

ours() {
  local how=(--pairs 10) launches=calls all long picked kernels
  ((tokens <= whole_to)) || how+=(--sample 64)
  ((tokens <= graphs_to)) || how=(--pairs 5 --sample 64)
  ((tokens <= five_to)) || how=(--pairs 3 --sample 16)
  ((tokens <= alone_to || key_heads < 2)) || how+=(--groups-alone 2)
  ((tokens > graphs_to)) || launches=calls,graph
  if ((gpus == 1)); then
    kernels="wgmma cudnn-atomic cudnn"
    mapfile -t picked < <(cases "$kernels" ring:p2p)
    measured "${name}_threads" "$bundle/run" ringcheck_scaling "${how[@]}" --launch "$launches" "${picked[@]}"
    return
  fi
  all=$(strategies ulysses "ulysses[2]" "ulysses[4]" ring:p2p ring:allgather gathered)
  long=$(strategies "ulysses[2]" ring:p2p)
  if ((tokens > graphs_to)); then
    mapfile -t picked < <(cases cudnn-atomic "$long")
    measured "${name}_threads" "$bundle/run" ringcheck_scaling "${how[@]}" "${picked[@]}"
    return
  fi
  mapfile -t picked < <(cases "cudnn-atomic wgmma" "$all")
  measured "${name}_threads" "$bundle/run" ringcheck_scaling "${how[@]}" "${picked[@]}"
  mapfile -t picked < <(cases "cudnn-atomic wgmma" "$(strategies ulysses "ulysses[2]" ring:p2p)")
  measured "${name}_nccl" "$bundle/run" ../ranks "$gpus" ringcheck_scaling "${how[@]}" --launch "$launches" "${picked[@]}"
  mapfile -t picked < <(cases cudnn-atomic "$(strategies ulysses "ulysses[2]" ring:p2p)")
  measured "${name}_ipc" "$bundle/run" ../ranks "$gpus" ringcheck_scaling "${how[@]}" --transport ipc "${picked[@]}"
}

# installed MODULE...   whether Python has one of them
installed() {
  python3 -c 'import importlib.util as u, sys; sys.exit(not any(u.find_spec(name) for name in sys.argv[1:]))' "$@"
}

# They take no grouped heads.
peers() {
  local how=(--heads "$query_heads" --seq "$tokens") program=(torchrun --standalone --nproc-per-node "$gpus")
  ((query_heads == key_heads && tokens <= peers_to)) || return 0
  ((tokens <= graphs_to)) || how+=(--passes 5 --judged-heads 1)
  ((tokens <= five_to)) || how+=(--passes 3 --judged-heads 0)
  ((tokens <= alone_to)) || how+=(--heads-alone 2)
  if installed torch; then
    local kernels=cudnn
    ((tokens > graphs_to)) || kernels+=,flash
    measured "${name}_pytorch" "${program[@]}" "$bench/peers/pytorch.py" "${how[@]}" --kernels "$kernels"
  else
    echo "${name}_pytorch: python3 has no torch: left out"
  fi
  if ((gpus > 1 && tokens <= graphs_to)); then
    if installed ring_flash_attn yunchang; then
      measured "${name}_rings" "${program[@]}" "$bench/peers/rings.py" "${how[@]}"
    else
      echo "${name}_rings: python3 has neither ring_flash_attn nor yunchang: left out"
    fi
  fi
}

# One result for each program.
together() {
  local program files
  for program in threads nccl ipc pytorch rings; do
    mapfile -t files < <(compgen -G "$out/tables/gpu${gpus}_*_$program.json")
    case ${#files[@]} in
      0) ;;
      1) cp -- "${files[0]}" "$out/gpu${gpus}_$program.json" ;;
      *) "$bundle/ringcheck" report join -o "$out/gpu${gpus}_$program.json" "${files[@]}" || failed=1 ;;
    esac
  done
}

(($# > 0)) || refuse "no folder for the results; use bench/run.sh OUT [TABLE...]"
[[ -x $bundle/run ]] || refuse "no bundle in $bundle; make one by ci/bundle.sh, or say where it is by RINGCHECK_BUNDLE"
[[ $deadline =~ ^[1-9][0-9]{0,5}$ ]] || refuse "RINGCHECK_DEADLINE '$deadline' is no number of seconds; use one, as 300"
gpus=$(nvidia-smi --list-gpus 2>/dev/null | grep -c ^GPU)
((gpus > 0)) || refuse "no GPU: nvidia-smi lists none"
if [[ -n ${CUDA_VISIBLE_DEVICES:-} ]]; then
  IFS=, read -ra visible <<<"$CUDA_VISIBLE_DEVICES"
  ((${#visible[@]} <= gpus)) || refuse "CUDA_VISIBLE_DEVICES '$CUDA_VISIBLE_DEVICES' names more than the $gpus GPUs that there are"
  gpus=${#visible[@]}
fi
out=$1
shift
tables=("$@")
((${#tables[@]} > 0)) || tables=(32/32/8K 32/32/32K 32/8/32K 64/8/32K 32/32/128K 32/8/128K 32/32/256K)
for table in "${tables[@]}"; do problem "$table"; done
if ! mkdir -p -- "$out/tables" || ! out=$(cd -- "$out" && pwd) || [[ ! -w $out ]]; then
  refuse "cannot write into '$out'"
fi

export OMP_WAIT_POLICY=passive
failed=0
for table in "${tables[@]}"; do
  problem "$table"
  name=gpu${gpus}_${table//\//_}
  ours
  peers
done
together
"$bench/../ci/performance.py" --of "$out" || failed=1
exit "$failed"
