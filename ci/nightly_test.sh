#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/nightly_test.sh   ci/nightly.sh with programs that only say how they were called, and end as they
# are told: its seeds, its parts, its exit codes.
set -uo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." || exit 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
wrong=0
fail() {
  echo "nightly test: $*" >&2
  wrong=1
}

# A program ends with the code in the file of its first word that is a part, 0 where there is none.
mkdir "$scratch/bin"
cat >"$scratch/bin/ringcheck" <<'PROGRAM'
#!/usr/bin/env bash
echo "$(basename "$0") $*" >>"$NIGHTLY_TEST/calls"
name=$1
[[ " $* " != *" --clean "* ]] || name=clean
case $(basename "$0") in
  ringcheck_search) name=search ;;
  bad_inputs_test) name=inputs ;;
  ringcheck_fuzz)
    name=fuzz
    (($# > 0)) || exec echo case_text
    echo "Done $(cat "$NIGHTLY_TEST/inputs_done" 2>/dev/null || echo 10000000) runs in 2 second(s)"
    ;;
esac
[[ ! -e $NIGHTLY_TEST/slow ]] || sleep 30
sleep 0.2
exit "$(cat "$NIGHTLY_TEST/$name" 2>/dev/null || echo 0)"
PROGRAM
chmod +x "$scratch/bin/ringcheck"
for name in ringcheck_search ringcheck_fuzz bad_inputs_test; do ln -s ringcheck "$scratch/bin/$name"; done
export NIGHTLY_TEST=$scratch RINGCHECK_PROGRAMS=$scratch/bin RINGCHECK_BUDGET=2
parts=(refusals conformance clean faults search inputs fuzz)

# expect CODE PART=CODE...   of all parts, when these end so.
expect() {
  local code=$1 part
  shift
  rm -f "$scratch"/{refusals,verify,clean,faults,search,inputs,fuzz,calls}
  for part in "$@"; do echo "${part#*=}" >"$scratch/${part%=*}"; done
  PATH=$scratch/none:/usr/bin:/bin ci/nightly.sh "$scratch/out" "${parts[@]}" >"$scratch/said" 2>&1
  local ended=$?
  ((ended == code)) || fail "exit code $ended after $*, not $code"
}

expect 0
grep -q -- '--seed' "$scratch/calls" || fail "no seed was given"
(($(grep -c -- '--clean' "$scratch/calls") > 1)) || fail "clean cases do not go on until their time is up"
head -1 "$scratch/said" | grep -qE '^nightly: seed [0-9]+; RINGCHECK_SEED=' || fail "the seed is not first"
first=$(head -1 "$scratch/said")
expect 0
[[ $(head -1 "$scratch/said") != "$first" ]] || fail "two nights have one seed"
RINGCHECK_SEED=17 expect 0
grep -q -- '--profile conformance --device cpu --seed 17 ' "$scratch/calls" || fail "RINGCHECK_SEED is not taken"
grep -q -- '--clean 500 18 ' "$scratch/calls" || fail "the second clean run has no seed of its own"

export RINGCHECK_BUDGET=1
expect 1 faults=1
expect 70 faults=70 verify=1 search=5
expect 5 search=5 verify=1
expect 1 verify=1 clean=4
expect 1 inputs=1
expect 5 fuzz=5
grep -q '^ringcheck_fuzz case_text -runs=10000000 .* -seed=' "$scratch/calls" || fail "a parser is not fuzzed"
echo 9999999 >"$scratch/inputs_done"
expect 6
grep -q 'fuzz_case_text .* 6 .* 9999999 of 10000000 inputs: out of time' "$scratch/said" || fail "too few inputs are not said"
expect 5 fuzz=5
rm "$scratch/inputs_done"
expect 4 clean=4 refusals=6
expect 2 refusals=2 faults=6
expect 6 faults=77
expect 77 refusals=77 verify=77 clean=77 faults=77 search=77 inputs=77 fuzz=77
expect 70 verify=139
(($(grep -c -- '--clean' "$scratch/calls") > 0)) || fail "after a part that died nothing ran"
touch "$scratch/slow"
expect 6
grep -q 'conformance_cpu .* 6 .*out of time' "$scratch/said" || fail "what runs out of time is not said"
rm "$scratch/slow"

for value in RINGCHECK_SEED=x RINGCHECK_SEED=0 RINGCHECK_BUDGET=-1; do
  env "$value" ci/nightly.sh "$scratch/out" >"$scratch/said" 2>&1
  [[ $? == 2 && $(<"$scratch/said") == *$value* ]] || fail "$value is taken"
done
ci/nightly.sh "$scratch/out" nothing >"$scratch/said" 2>&1
[[ $? == 2 && $(<"$scratch/said") == *"unknown part 'nothing'"* ]] || fail "an unknown part is taken"
ci/sanitize.sh memory >"$scratch/said" 2>&1
[[ $? == 2 && $(<"$scratch/said") == *"'memory'"* ]] || fail "sanitize takes an unknown sanitizer"

((wrong == 0)) && echo "nightly test: seeds, parts and exit codes are as promised"
exit "$wrong"
