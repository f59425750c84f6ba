// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/scaling/judged.h"
#include "bench/scaling/timing.h"
#include "reports/result.h"

namespace ringcheck::bench {

// A case and the same problem on each device alone, timed in one run.
struct Scaled {
  parity::Case test;
  int devices = 1;
  Errors errors;
  Timing timing;
  Alone alone;
};

// Times and throughput of both with a sample a pass, alone on the first device and the median on the
// slowest one; shares of a pass, and eta, the time on the first device over the device time of all,
// with one; what a rank sends, and how fast on average; and the share of the roofline: what a pass would take at least,
// the longer of the attention on one device, shared among all, and of the messages at the link's rate, over what it took.
std::vector<reports::Measurement> measurements_of(const Scaled& scaled);

}  // namespace ringcheck::bench
