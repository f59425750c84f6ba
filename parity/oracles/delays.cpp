// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/delay.h"

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

constexpr std::chrono::microseconds kMost{300};  // at each message, on both of its streams
constexpr uint64_t kMostRanks = 1024;

// Every rank delays its messages, each by another sequence of times; none afterwards.
std::shared_ptr<void> delayed(Communicator& comm, const Case& test) {
  const uint64_t seed = kMostRanks * test.seed + static_cast<uint64_t>(comm.rank());
  comm.delay_with(random_delay(comm.device(), seed, kMost));
  return {&comm, [](Communicator* delayed) { delayed->delay_with({}); }};
}

std::vector<Run> runs(const Case& test) {
  if (test.world == 1) return {};
  Run run{test};
  run.surroundings = delayed;
  return {run};
}

OracleVerdict judge(const Evidence& e) {
  if (e.promise().deterministic) return same_bits_in_all_runs(e);
  return right(e, runs(e.test).front(), e.variations.front());
}

const Oracles::Add registered{
    "delays",
    {.proves = "messages that come late, on either stream, change no bit of F; nor, where bits are "
               "not promised, that it is right",
     .judge = judge, .variations = runs, .rigour = Oracle::Rigour::kExact, .cost = "further runs",
     .needs = "more than one rank", .one_in = 8}};

}  // namespace
}  // namespace ringcheck::parity
