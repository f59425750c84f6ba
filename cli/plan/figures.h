// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/plan/work.h"
#include "reports/result.h"

// What measured passes say of a machine: the constants of a model of three terms for the kernel and
// what lies around it, and of two for a link.
namespace ringcheck::cli {

// seconds = flops / rate + calls * call + bytes beside / beside
struct PassFigures {
  double rate = 0;    // FLOP/s of a long call
  double call = 0;    // s that each call of the kernel takes more
  double beside = 0;  // B/s of merges, sums and copies; infinite where they did not show
};
struct KernelFigures {
  PassFigures forward, backward;
};
struct Link {
  double rate = 0;     // B/s of a rank, and as much the other way
  double latency = 0;  // s
};

// A pass that was timed.
struct Timed {
  Attention layer;
  std::string strategy, kernel;
  int64_t ranks;
  double forward, backward;  // s
  double exposed;            // s of both in which a rank only waited for data
};

struct Figures {
  std::map<std::string, KernelFigures> kernels;
  Link link;
  std::string commit, device;
  std::vector<Timed> measured;  // by which they were found
};

// Who measured, on what.
std::string origin_of(const Figures& figures);

// Of a result of ringcheck_scaling: its causal cases of batch 1 whose strategy can be planned, and each of
// them on one device. Throws std::invalid_argument where it has too little: at least two lengths on one
// device and on two.
Figures figures_of(const reports::Result& scaling);

}  // namespace ringcheck::cli
