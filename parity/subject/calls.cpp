// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/calls.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "cp/ledger/memory.h"

namespace ringcheck::parity {
namespace {

// The meter is told of this thread only. Where it has not even seen O, it has seen nothing.
int64_t growth(const MemoryMeter& meter, const RankOutput& output, int64_t after_second) {
  const auto least = static_cast<int64_t>(output.o.defined() ? output.o.nbytes() : 0);
  if (meter.total().peak < least) return RankRecord::kUnseen;
  return std::max<int64_t>(0, meter.total().now - after_second);
}

}  // namespace

RankOutput called(const Run& run, Communicator& world, const Subject& subject,
                  const RankInput& input) {
  if (run.calls == 1) return subject.run(world, run.test, input);
  const auto meter = std::make_shared<MemoryMeter>();
  const Metered metered(meter);
  RankOutput output;
  int64_t after_second = 0;
  for (int call = 1; call <= run.calls; ++call) {
    output = subject.run(world, run.test, input);
    if (call <= 2) after_second = meter->total().now;
  }
  output.record.grown_bytes = growth(*meter, output, after_second);
  return output;
}

}  // namespace ringcheck::parity
