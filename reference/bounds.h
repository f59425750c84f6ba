// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/attention.h"
#include "reference/contract.h"
#include "reference/rope.h"

namespace ringcheck::reference {

// The truth and how far a correct implementation may be from it, element by element.
struct Judgement {
  Tensors value;
  Tensors bound;  // B: the worst case; an error above it proves a violation
  Tensors sigma;  // the predicted root mean square error
};

// Evaluates attention and, for an implementation with this contract that merges `world` partial
// results, the worst-case bound B and the predicted error sigma of every element
// (docs/numerics.md gives each formula). `rope`, where it rotates, is undone on dQ and dK with
// the bounds carried through; inputs.q and inputs.k are the rotated tensors.
Judgement judge(const Inputs& inputs, const Contract& contract, int world, const Rope& rope,
                const Tiling& tiling = {});

}  // namespace ringcheck::reference
