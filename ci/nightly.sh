#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/nightly.sh [OUT [part...]]   runs what is drawn with a seed that nobody has seen, or with
# RINGCHECK_SEED, on the CPU and, where there are GPUs, on these. Parts: refusals conformance clean
# faults search inputs fuzz sanitize; by default all. Each writes its results into OUT (build/nightly) and has
# RINGCHECK_BUDGET seconds (1200): clean and search draw until they are up, sanitize, which builds, has
# 12 times as many. The seed is printed first, a table last. Exit code: of those of the parts the
# worst, 70, 5, 1, 4, 3, 2, 6; 77 where nothing ran. A part that ran out of time, or in which nothing
# ran, is inconclusive, 6; one that ended in another way is 70. RINGCHECK_PROGRAMS names a folder with
# programs that are built; without it they are built first.
# shellcheck disable=SC2317  # the parts are called by their names
set -uo pipefail
ci=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
all=(refusals conformance clean faults search inputs fuzz sanitize)
known=" ${all[*]} "

seed=${RINGCHECK_SEED:-$((SRANDOM % 1000000000))} budget=${RINGCHECK_BUDGET:-1200}
for value in "RINGCHECK_SEED=$seed" "RINGCHECK_BUDGET=$budget"; do
  [[ ${value#*=} =~ ^[1-9][0-9]{0,9}$ ]] || {
    echo "nightly: $value is no whole number from 1 to 9999999999" >&2
    exit 2
  }
done
for part in "${@:2}"; do
  [[ $known == *" $part "* ]] || { echo "nightly: unknown part '$part'; known:$known" >&2; exit 2; }
done
out=${1:-$ci/../build/nightly}
out=$(mkdir -p "$out" && cd "$out" && pwd) || exit 2
parts=("${@:2}")
((${#parts[@]} > 0)) || parts=("${all[@]}")
echo "nightly: seed $seed; RINGCHECK_SEED=$seed ci/nightly.sh draws the same"

devices=(cpu)
[[ -z $(nvidia-smi --list-gpus 2>/dev/null) ]] || devices+=(cuda)
if [[ -z ${RINGCHECK_PROGRAMS:-} ]]; then
  RINGCHECK_TESTS=1 "$ci/build.sh" release ringcheck_command ringcheck_search ringcheck_fuzz \
    bad_inputs_test >"$out/build.txt" 2>&1 || {
    echo "nightly: cannot be built: $out/build.txt" >&2
    exit 70
  }
  # shellcheck source=ci/environment.sh
  source "$ci/environment.sh"
  RINGCHECK_PROGRAMS=$RINGCHECK_ROOT/build/release/bin
fi
ringcheck=$RINGCHECK_PROGRAMS/ringcheck

rows=() codes=()
# run NAME SECONDS command...   what it prints goes into OUT/NAME.txt; a row of the table. Where so many
# inputs are `wanted`, fewer are inconclusive.
run() {
  local name=$1 limit=$2 begin=$SECONDS code said reached
  shift 2
  timeout --kill-after=30 "$limit" "$@" >"$out/$name.txt" 2>&1
  code=$?
  said=$(grep -E 'cases/s|^all dtypes|refused|^Done |tests passed|passed|failed' "$out/$name.txt" | tail -1)
  case $code in
    [0-6] | 70 | 77) ;;
    124) code=6 said="out of time" ;;
    *) said="exit code $code" code=70 ;;
  esac
  if ((code == 0 && ${wanted:-0} > 0)); then
    reached=$(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$out/$name.txt")
    ((${reached:-0} >= wanted)) || code=6 said="${reached:-0} of $wanted inputs: out of time"
  fi
  codes+=("$code")
  rows+=("$(printf '%-24s %4d %7d s  %s' "$name" "$code" $((SECONDS - begin)) "${said:0:80}")")
  ((code == 0))
}
# again NAME command...   with a further seed each time, which SEED stands for, until the time is up or
# something is found; what has begun may take as long once more.
again() {
  local name=$1 begin=$SECONDS round
  shift
  for ((round = seed; SECONDS - begin < budget; ++round)); do
    run "${name}_$round" "$budget" "${@//SEED/$round}" || break
  done
}

refusals() {
  run "refusals_$1" "$budget" "$ringcheck" refusals --device "$1" --json "$out/refusals_$1.json" \
    --against "$ci/../reports/refusals"
}
conformance() {
  run "conformance_$1" "$budget" "$ringcheck" verify --profile conformance --device "$1" \
    --seed "$seed" --json "$out/conformance_$1.json"
}
# The planted bugs have seeds of their own: the night chooses the dtype.
faults() {
  local dtypes=(float64 float32 bf16 fp16) kernel=plain
  [[ $1 == cpu ]] || kernel=tiled
  run "faults_$1" "$budget" "$ringcheck" faults --device "$1" --kernel "$kernel" \
    --dtype "${dtypes[seed % 4]}" --json "$out/faults_$1.json"
}
clean() {
  again "clean_$1" "$ringcheck" verify --device "$1" --clean 500 SEED --json "$out/clean_$1_SEED.json"
}
search() {
  again "search_$1" "$RINGCHECK_PROGRAMS/ringcheck_search" --device "$1" --seed SEED --cases 300 \
    --climb 60 --coverage "$out/search_$1_SEED.json" --record "$out/search_$1_SEED_failure.json"
}
# On the CPU, whatever there is.
inputs() {
  [[ $1 != cpu ]] || run inputs "$budget" env RC_PARAMS="seed=$seed max_success=2000" \
    "$RINGCHECK_PROGRAMS/bad_inputs_test"
}
# Ten million inputs for each parser, or as many as there is time for: fewer are inconclusive.
fuzz() {
  local parser wanted=10000000
  [[ $1 == cpu ]] || return 0
  for parser in $("$RINGCHECK_PROGRAMS/ringcheck_fuzz"); do
    run "fuzz_$parser" $((budget + 60)) "$RINGCHECK_PROGRAMS/ringcheck_fuzz" "$parser" -runs="$wanted" \
      -max_total_time="$budget" -seed="$seed" \
      -artifact_prefix="$out/fuzz_${parser}_"
  done
}
sanitize() { [[ $1 != cpu ]] || run sanitize $((12 * budget)) "$ci/sanitize.sh"; }

for device in "${devices[@]}"; do
  for part in "${parts[@]}"; do "$part" "$device"; done
done
echo
printf 'part                     code    time\n'
printf '%s\n' "${rows[@]}"
echo "nightly: seed $seed, results in $out"
for code in 70 5 1 4 3 2 6; do
  [[ " ${codes[*]} " != *" $code "* ]] || exit "$code"
done
case " ${codes[*]} " in
  *" 0 "*" 77 "* | *" 77 "*" 0 "*) exit 6 ;;
  *" 0 "*) exit 0 ;;
  *) exit 77 ;;
esac
