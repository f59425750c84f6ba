#!/usr/bin/env bash
# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
#
# ci/sanitize.sh [address|thread...]   sets up, builds for the CPU with the sanitizers and runs tests;
# by default both. address: every test, and every header alone, under ASan and UBSan. thread: under
# TSan the tests of what shares memory of ours between threads or processes and computes little:
# LibTorch and its OpenMP are not instrumented (ci/tsan.supp), so that what they synchronise looks like
# a race, and the memory that they allocate is not watched. Exit code: that of the first that fails.
set -euo pipefail
ci=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
export RINGCHECK_CUDA=0 RINGCHECK_TESTS=1
# Ledger and memory, transports and groups of threads, ranks that fail, the status file and the
# supervisor's processes, parsers.
own_memory=(kept_threads_test ledger_test memory_test communicator_laws group_laws rank_failure_laws job_test
  carrier_laws rotation_laws process_test supervisor_test case_laws safetensors_test result_test)

address() { RINGCHECK_PRESET=asan "$ci/test.sh"; }
thread() {
  "$ci/build.sh" tsan ringcheck "${own_memory[@]}"
  # shellcheck source=ci/environment.sh
  source "$ci/environment.sh"
  cd "$RINGCHECK_ROOT"
  local names
  names=$(IFS='|' && echo "${own_memory[*]}")
  ctest --preset tsan --output-on-failure --parallel "$(nproc)" --tests-regex "^($names)\$"
}

(($# > 0)) || set -- address thread
for what in "$@"; do
  [[ $what == address || $what == thread ]] || {
    echo "sanitize: '$what' is neither address nor thread" >&2
    exit 2
  }
done
for what in "$@"; do
  echo "== $what"
  ("$what")
done
