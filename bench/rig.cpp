// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/rig.h"

#include <algorithm>

#include "cp/attention/context_parallel.h"
#include "cp/ledger/memory.h"

namespace ringcheck::bench {
namespace {

constexpr std::chrono::seconds kDeadline{30};

double timed_passes(Communicator& comm, const parity::Case& test, const parity::Problem& local,
                    Passes passes) {
  ContextParallel attention(comm, parity::options_of(test));
  comm.agree_max(int64_t{0});  // everybody is here
  const double begin = comm.ledger().host_seconds();
  auto context = attention.forward(local.q, local.k, local.v);
  if (passes == Passes::kBoth) attention.backward(context, local.d_o);
  const double own = comm.ledger().host_seconds() - begin;
  return comm.agree_max(own);
}

}  // namespace

Rig::Rig(parity::Case test) : test_(std::move(test)) {
  for (const Positions& positions : parity::layout_of(test_).queries)
    inputs_.push_back({parity::problem_of(test_, positions), positions});
}

Timed Rig::run(Passes passes) const {
  Timed result;
  result.forward.resize(inputs_.size());
  result.backward.resize(inputs_.size());
  std::vector<int64_t> peaks(inputs_.size());
  std::vector<double> seconds(inputs_.size());
  ringcheck::run(parity::threads_of(test_, kDeadline), [&](Communicator& comm) {
    const int rank = comm.rank();
    const Metered metered(comm.ledger().memory());
    seconds[rank] = timed_passes(comm, test_, inputs_[rank].local, passes);
    result.forward[rank] = comm.ledger().sum(Phase::kForward);
    result.backward[rank] = comm.ledger().sum(Phase::kBackward);
    peaks[rank] = comm.ledger().memory()->total().peak;
  });
  result.seconds = seconds.front();
  result.peak_bytes = *std::max_element(peaks.begin(), peaks.end());
  return result;
}

bool passes_first(benchmark::State& state, const parity::Case& test) {
  const parity::Verdict verdict = parity::verify(test, {});
  if (verdict.status == parity::Status::kPass) return true;
  const std::string reason = parity::to_text(verdict.status) + ": " + parity::to_text(test);
  state.SkipWithError(reason.c_str());
  return false;
}

}  // namespace ringcheck::bench
