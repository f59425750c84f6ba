// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "parity/faults/self_test/demands.h"
#include "reference/errors/bounds.h"

namespace ringcheck::parity {

// reference::judge, as it is or spoilt by whoever tests the test.
using Truth =
    std::function<reference::Judgement(const reference::Inputs&, const reference::Contracts&, reference::Partials,
                                       const reference::Rope&, const reference::Tiling&)>;
reference::Judgement true_judgement(const reference::Inputs& inputs,
                                    const reference::Contracts& contracts, reference::Partials partials,
                                    const reference::Rope& rope, const reference::Tiling& tiling);

// The reference against attention in plain loops, forward and backward: every mask, grouped
// queries, scales, odd sizes, pads inside and behind, RoPE, in one tile and in many. One wrong
// element is one too many. Its bounds and sigmas of two problems are of the size that they are known
// to have.
void examine_truth(const Truth& truth, SelfTest& result);

// The closed forms of the counters for cases that were counted by hand.
void examine_closed_forms(SelfTest& result);

}  // namespace ringcheck::parity
