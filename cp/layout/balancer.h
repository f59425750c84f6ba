// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "cp/layout/layout.h"
#include "cp/registry.h"

namespace ringcheck {

// What a load balancer may know of the sequence it cuts.
struct Sequence {
  Mask mask;          // its length and documents included
  int64_t block = 1;  // the balancer's own parameter: tokens dealt at a time (striped)
};

// Which global positions live on which rank: a pure function. The shards of all ranks have equal
// length and together hold {0, ..., padded length - 1}, each position once.
using Balancer = std::function<Positions(const Sequence&, int world, int rank)>;

struct BalancerEntry {
  Balancer positions;
  std::function<int64_t(int64_t block, int world)> granule;  // the padded length is a multiple of it
  bool takes_block = false;                                  // written name[block]
};
using Balancers = Registry<BalancerEntry>;

// ceil(length / granule) * granule
int64_t padded_length(int64_t length, int64_t granule);

// Of self attention: queries and keys are cut alike.
Layout layout_of(const BalancerEntry& balancer, const Sequence& sequence, int world);

}  // namespace ringcheck
