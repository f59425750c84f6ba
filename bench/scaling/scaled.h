// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/scaling/timing.h"
#include "reports/result.h"

namespace ringcheck::bench {

// A case and the same problem on one device, timed in one run.
struct Scaled {
  parity::Case test;
  int devices = 1;
  Timing timing, one;
};

// Times and throughput of both with a sample a pass; shares of a pass, and eta, the time on one
// device over the device time of all, with one.
std::vector<reports::Measurement> measurements_of(const Scaled& scaled);

}  // namespace ringcheck::bench
