// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <vector>

#include "parity/subject/outcome.h"
#include "parity/judge/runner.h"

namespace ringcheck::bench {

enum class Passes { kForward, kBoth };

// What one timed run took: the slowest rank's seconds, and what the ranks counted.
struct Timed {
  double seconds = 0;
  std::vector<Counters> forward, backward;  // by rank
  int64_t peak_bytes = 0;                   // the largest of all ranks
};

// A case on a thread world, its inputs made beforehand, to be run again and again.
class Rig {
 public:
  explicit Rig(parity::Case test);
  Timed run(Passes passes) const;
  const parity::Case& test() const { return test_; }

 private:
  parity::Case test_;
  std::vector<parity::RankInput> inputs_;
};

// Verify, then time: a wrong result has no speed. False, with the benchmark marked as an error,
// where the case does not pass.
bool passes_first(benchmark::State& state, const parity::Case& test);

}  // namespace ringcheck::bench
