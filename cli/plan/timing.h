// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cli/plan/figures.h"
#include "cli/plan/work.h"

namespace ringcheck::cli {

// How the ranks are connected: so many to a host, where each has a link; between hosts each has its share
// of a network.
struct Hosts {
  int64_t ranks = 8;
  Link inside, between;
};

struct Seconds {
  double all = 0, exposed = 0;  // of that, waiting for data while no kernel runs
  Seconds operator+(const Seconds& other) const { return {all + other.all, exposed + other.exposed}; }
};

// Of one pass of a layer. In each stage the kernel and what is sent take as long as the longer of them.
Seconds seconds_of(const Stages& pass, Peers peers, int64_t ranks, const PassFigures& kernel,
                   const Hosts& hosts);

struct LayerSeconds {
  Seconds forward, backward;
  Seconds both() const { return forward + backward; }
};
LayerSeconds seconds_of(const Work& work, int64_t ranks, const KernelFigures& kernel, const Hosts& hosts);

}  // namespace ringcheck::cli
