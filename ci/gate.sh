#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/gate.sh BASE_REF [option...]   is this checkout worse than BASE_REF? docs/ci.md
# ci/gate.sh --base DIR --new DIR [option...]   the same of two folders that are built: bundles, checkouts
#
#   --repository DIR   the checkout whose BASE_REF is meant; default: this one
#   --build COMMAND    builds a side, in its folder
#   --verify COMMAND   writes a result of verify into $RESULT; default: ringcheck verify, as doctor advises
#   --check COMMAND    runs in NEW alone, and its exit code counts: ringcheck guard, tests
#   --cases ARGUMENTS  those of ringcheck verify instead of the ones that doctor advises
#   --bench COMMAND    writes a result with measurements into $RESULT; default: ringcheck_bench, on GPUs ringcheck_scaling
#   --benchmarks REGEX which of ringcheck_bench
#   --rounds N         how often each side is timed, in turns (12)
#   --margin X         a slowdown up to this is none (0.02)
#   --waivers FILE     failures that are known; --history FILE  where the runs are kept
#   --out DIR          what is written (build/gate): summary.md, junit.xml, metrics.txt, results, dashboard.html
#
# Commands run by bash in the folder of a side, with SIDE (base, new), RESULT and RINGCHECK, the program.
# Exit code: the worst of those of verify and compare, 70, 5, 1, 4, 3, 2, 6, 77; 70 where a side has no result.
# RINGCHECK_PROGRAMS names a folder with ringcheck; without it it is built, where no side has it.
# shellcheck disable=SC2317  # steps are called by their names
set -uo pipefail
ci=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

fail() {
  echo "gate: $2" >&2
  exit "$1"
}

declare -A folder option=(
  [out]=build/gate [repository]=$(dirname -- "$ci") [rounds]=12 [margin]=0.02
  [benchmarks]='^merge/|^host_time/|^attention/forward.backward/[^/]*/headtail/P4'
)
ref=
while (($#)); do
  case $1 in
    --help) sed -n '/^# ci/,/^# shellcheck/{/^# shellcheck/d;s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"; exit 0 ;;
    --repository | --build | --verify | --check | --cases | --bench | --benchmarks | --rounds | --margin | --waivers | \
      --history | --out | --base | --new)
      [[ -n ${2:-} ]] || fail 2 "$1 wants a value; ci/gate.sh --help"
      option[${1#--}]=$2
      shift ;;
    --*) fail 2 "unknown option '$1'; ci/gate.sh --help" ;;
    *) [[ -z $ref && -n $1 ]] || fail 2 "'$1': want one BASE_REF; ci/gate.sh --help"
      ref=$1 ;;
  esac
  shift
done
[[ ${option[rounds]} =~ ^[1-9][0-9]{0,2}$ ]] || fail 2 "--rounds ${option[rounds]}: it must be from 1 to 999"
[[ ${option[margin]} =~ ^(0?\.[0-9]+|[01](\.0*)?)$ ]] || fail 2 "--margin ${option[margin]}: it must be from 0 to 1"
for name in base new repository; do
  [[ -z ${option[$name]:-} || -d ${option[$name]} ]] || fail 2 "--$name '${option[$name]}' is no folder"
done
[[ -z ${option[waivers]:-} || (-f ${option[waivers]} && -r ${option[waivers]}) ]] || fail 2 "--waivers '${option[waivers]}' cannot be read"
[[ -n $ref || (-n ${option[base]:-} && -n ${option[new]:-}) ]] || fail 2 "want BASE_REF, or --base and --new; ci/gate.sh --help"
[[ -z $ref || -z ${option[base]:-}${option[new]:-} ]] || fail 2 "'$ref' and --base or --new: want either"
[[ -z ${option[history]:-} || -d $(dirname -- "${option[history]}") ]] || fail 2 "--history '${option[history]}' has no folder to lie in; make it first"
for name in base new repository waivers history; do
  [[ -z ${option[$name]:-} ]] || option[$name]=$(realpath -- "${option[$name]}")
done
# A repository of others has no defaults of ours.
ours=1
[[ -n ${option[base]:-} || ${option[repository]} == "$(realpath -- "$ci/..")" ]] || ours=
[[ -n $ours || -n ${option[verify]:-}${option[bench]:-}${option[check]:-} ]] ||
  fail 2 "--repository ${option[repository]}: say what runs there, by --verify, --bench or --check"
[[ -z $ref ]] || commit=$(git -C "${option[repository]}" rev-parse --verify --quiet "$ref^{commit}" 2>/dev/null) ||
  fail 2 "BASE_REF '$ref' is no commit of ${option[repository]}; git fetch it first (a shallow clone has few)"
out=$(mkdir -p "${option[out]}" && cd "${option[out]}" && pwd) || fail 2 "--out '${option[out]}' cannot be made"
[[ $out != *,* ]] || fail 2 "--out '$out': no comma, please; a list of results has them"
[[ -z $(ls -A "$out") || $(head -c 6 "$out/summary.md" 2>/dev/null) == "# Gate" ]] ||
  fail 2 "--out '$out' holds files that no gate wrote; name a new folder"
echo "# Gate: no verdict" >"$out/summary.md" || fail 2 "--out '$out' cannot be written"
rm -rf "$out"/{base,new}.* "$out"/{rounds,failures} "$out"/{junit.xml,metrics.txt,dashboard.*,correctness.*,speed.*,history.db*,doctor.*}

# with_ours command...   a program of ours where its tools are; commands of others keep their environment, and
# have of ours what lets mpirun work in a container.
with_ours() {
  (
    # shellcheck source=ci/environment.sh
    source "$ci/environment.sh" || exit 2
    exec "$@"
  )
}
cache=$(with_ours printenv RINGCHECK_CACHE) || exit 2
gpus=$(nvidia-smi --list-gpus 2>/dev/null | grep -c .)
mapfile -t for_mpirun < <(with_ours env | grep '^OMPI_')

# Where the side of BASE_REF is: a worktree of its commit, made once and kept for a week.
worktree() {
  local name path
  name=$(realpath -- "${option[repository]}" | sha256sum)
  path=$cache/gate/${name:0:12}-$commit
  mkdir -p "$cache/gate"
  find "$cache/gate" -mindepth 1 -maxdepth 1 -mtime +7 ! -path "$path*" -exec rm -rf {} +
  exec 7>"$path.lock"
  flock 7  # one gate of this base at a time
  if ! git -C "$path" status >/dev/null 2>&1; then
    rm -rf "$path"
    git -C "${option[repository]}" worktree prune
    git -C "${option[repository]}" worktree add --quiet --detach --force "$path" "$commit" >&2 ||
      fail 70 "no worktree of $ref"
  fi
  # Nothing of an earlier gate but what git ignores, as builds are.
  if ! git -C "$path" checkout --quiet --force "$commit" || ! git -C "$path" clean --quiet -fd; then
    fail 70 "no clean worktree of $ref"
  fi
  touch "$path"
  folder[base]=$path
}

# given SIDE RESULT COMMAND
given() { (cd "${folder[$1]}" && exec env "${for_mpirun[@]}" SIDE="$1" RESULT="$2" RINGCHECK="$ringcheck" bash -c "$3" </dev/null); }

# program SIDE NAME arguments...   one of ours, of a bundle or of a build tree.
program() {
  local side=${folder[$1]}
  if [[ -x $side/run ]]; then with_ours "$side/run" "${@:2}"; else with_ours "$side/build/release/bin/$2" "${@:3}"; fi
}

build() {
  local side=$1
  if [[ -n ${option[build]:-} ]]; then
    given "$side" "" "${option[build]}"
  elif [[ -n $ours && -n $ref ]]; then
    RINGCHECK_TESTS=1 "${folder[$side]}/ci/build.sh" release ringcheck_command ringcheck_bench ringcheck_scaling
  fi
}

verify() {
  local side=$1 result=$2 more=()
  if [[ -n ${option[verify]:-} ]]; then
    given "$side" "$result" "${option[verify]}"
    return
  fi
  if [[ $side == new ]]; then
    more=(--junit "${result%.json}.xml" --markdown "${result%.json}.md" ${option[waivers]:+--waivers "${option[waivers]}"}
      --bundle "$out/failures")
  fi
  program "$side" ringcheck verify "${cases[@]}" --json "$result" "${more[@]}"
}

# What is timed on GPUs: a ring over all of them, by the kernels that a trainer would take.
on_gpus() {
  local kernel
  for kernel in wgmma cudnn; do
    echo "--case=ring:p2p/headtail/$kernel/causal/thread/cuda/P$gpus/hq32/hkv8/s16K/d128/bf16"
  done
}

bench() {
  local side=$1 result=$2 cases
  if [[ -n ${option[bench]:-} ]]; then
    given "$side" "$result" "${option[bench]}"
  elif ((gpus)); then
    mapfile -t cases < <(on_gpus)
    program "$side" ringcheck_scaling "${cases[@]}" --pairs 5 --json "$result"
  else
    program "$side" ringcheck_bench --json "$result" --benchmark_filter="${option[benchmarks]}" --benchmark_min_time=0.05
  fi
}

codes=() notes=()
# says STEP CODE   what the step comes to; what is no verdict of ours is none.
says() {
  case $2 in
    [0-6] | 70 | 77) codes+=("$2") ;;
    *) codes+=(70) ;;
  esac
  notes+=("$1: exit code $2")
}

# result_of STEP SIDE RESULT   runs a step for a side, into its log; fails where there is no result.
result_of() {
  local code=0
  "$1" "$2" "$3" >>"$out/$2.$1.log" 2>&1 || code=$?
  [[ -s $3 ]] || {
    says "$1 of $2 left no result ($2.$1.log)" 70
    tail -5 "$out/$2.$1.log" >&2
    return 1
  }
  [[ $2 == base || $code == 0 && $1 == bench ]] || says "$1 of $2" "$code"
}

# In turns, and the first in turns as well: what drifts hits both.
time_both() {
  local round order side
  mkdir -p "$out/rounds"
  for ((round = 1; round <= option[rounds]; ++round)); do
    order=(base new)
    ((round % 2)) || order=(new base)
    for side in "${order[@]}"; do
      result_of bench "$side" "$out/rounds/$side.$round.json" || return 1
    done
  done
  for side in base new; do
    "$ringcheck" report join -o "$out/$side.bench.json" "$out/rounds/$side".*.json || { says "joining the rounds of $side" $?; return 1; }
  done
}

# compare WHAT BASE NEW option...   a page of its own, which begins with what it comes to.
compare() {
  local page=$out/$1 code=0
  "$ringcheck" compare "${@:2}" --json "$page.json" --markdown "$page.md" || code=$?
  says "$1: $(sed -n '1s/^## //p' "$page.md" 2>/dev/null)" "$code"
}

# Into the history and onto the dashboard.
dashboard() {
  local history=${option[history]:-$out/history.db} side results
  declare -A branch=([base]=${ref:-base} [new]=$(git -C "${folder[new]}" rev-parse --abbrev-ref HEAD 2>/dev/null || echo new))
  for side in base new; do
    mapfile -t results < <(find "$out" -maxdepth 1 -name "$side.*.json" -size +0 | sort)
    ((${#results[@]})) || continue
    "$ringcheck" report add "$history" "${results[@]}" --branch "${branch[$side]}" || return
  done
  [[ ! -e $history ]] || "$ringcheck" report html "$history" -o "$out/dashboard.html"
}

worst() {
  local code
  for code in 70 5 1 4 3 2 6 77; do [[ " ${codes[*]} " != *" $code "* ]] || { echo "$code"; return; }; done
  echo 0
}

summary() {
  local word="no verdict" note page
  case $1 in
    0) word="passes" ;;
    1 | 5) word="fails" ;;
    3) word="fails: slower" ;;
    4) word="fails: counters" ;;
    6) word="inconclusive" ;;
    77) word="nothing ran" ;;
  esac
  echo "# Gate: $word"
  echo
  echo "Exit code $1. Base: ${ref:-${folder[base]}}; new: ${folder[new]}."
  echo
  for note in "${notes[@]}"; do echo "- $note"; done
  for page in correctness speed; do [[ ! -e $out/$page.md ]] || { echo; sed "1s/^## /&${page^}: /" "$out/$page.md"; }; done
  [[ ! -e $out/new.verify.md ]] || { echo; cat "$out/new.verify.md"; }
}

if [[ -n $ref ]]; then
  worktree
  folder[new]=${option[repository]}
else
  folder[base]=${option[base]} folder[new]=${option[new]}
fi

ringcheck=${RINGCHECK_PROGRAMS:+$RINGCHECK_PROGRAMS/ringcheck}
for side in new base; do
  build "$side" >"$out/$side.build.log" 2>&1 || {
    tail -5 "$out/$side.build.log" >&2
    fail 70 "$side cannot be built: $out/$side.build.log"
  }
done
if [[ -z $ringcheck ]]; then
  [[ -n $ours ]] || RINGCHECK_TESTS=0 "$ci/build.sh" release ringcheck_command >"$out/ringcheck.build.log" 2>&1 ||
    fail 70 "ringcheck cannot be built: $out/ringcheck.build.log"
  ringcheck=$(realpath -- "$ci/..")/build/release/bin/ringcheck
fi
[[ -z $ours || ! -x ${folder[new]}/ringcheck ]] || ringcheck=${folder[new]}/ringcheck
[[ -x $ringcheck ]] || fail 2 "no program '$ringcheck'; RINGCHECK_PROGRAMS names its folder"
complaint=$({ [[ ! -e ${option[history]:-} ]] || "$ringcheck" report list "${option[history]}" --last 1; } 2>&1 >/dev/null &&
  { [[ -z ${option[waivers]:-} ]] || "$ringcheck" verify --list --waivers "${option[waivers]}"; } 2>&1 >/dev/null) || fail 2 "$complaint"

if [[ -n $ours && -z ${option[verify]:-} ]]; then
  if [[ -n ${option[cases]:-} ]]; then
    read -ra cases <<<"${option[cases]}"
  else
    with_ours "$ringcheck" doctor --json "$out/doctor.json" >"$out/doctor.txt" 2>&1
    mapfile -t cases < <(/usr/bin/python3 -c 'import json, sys; print(*json.load(open(sys.argv[1]))["doctor"]["machine"]["verify"], sep="\n")' "$out/doctor.json")
  fi
fi
if [[ -n ${option[check]:-} ]]; then
  given new "$out/new.check.json" "${option[check]}" >"$out/new.check.log" 2>&1
  says "check of new (new.check.log)" $?
fi
if [[ -n $ours || -n ${option[verify]:-} ]] && result_of verify base "$out/base.verify.json" &&
  result_of verify new "$out/new.verify.json"; then
  compare correctness "$out/base.verify.json" "$out/new.verify.json" ${option[waivers]:+--waivers "${option[waivers]}"}
fi
[[ ! -s $out/new.verify.json || -e $out/new.verify.xml ]] || "$ringcheck" report render "$out/new.verify.json" --as junit ${option[waivers]:+--waivers "${option[waivers]}"} -o "$out/new.verify.xml"
[[ ! -s $out/new.verify.json || -e $out/new.verify.md ]] || "$ringcheck" report render "$out/new.verify.json" --as markdown -o "$out/new.verify.md"
[[ ! -s $out/new.verify.json ]] || "$ringcheck" report render "$out/new.verify.json" --as openmetrics -o "$out/metrics.txt"
[[ ! -e $out/new.verify.xml ]] || mv "$out/new.verify.xml" "$out/junit.xml"
if [[ -n $ours || -n ${option[bench]:-} ]] && time_both; then
  # Without waivers: what is timed is not asked all of which they speak.
  compare speed "$out/base.bench.json" "$out/new.bench.json" --interleaved --margin "${option[margin]}"
fi
dashboard >"$out/dashboard.log" 2>&1 || says "the dashboard (dashboard.log)" 70

code=$(worst)
summary "$code" >"$out/summary.md"
echo "gate: exit code $code; $out/summary.md" >&2
exit "$code"
