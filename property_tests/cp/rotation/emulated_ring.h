// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

#include <array>
#include <iosfwd>
#include <string>

#include "reference/attention.h"
#include "reference/errors/contract.h"

namespace ringcheck::reference_testing {

// How an implementation rounds: inputs and results are stored in one type, sums are taken in
// another, and P and dS may be rounded to the storage type before the second product.
struct Arithmetic {
  std::string name;
  at::ScalarType storage = at::kFloat;
  at::ScalarType accumulation = at::kFloat;
  bool narrow_operands = false;
  bool narrow_partials = false;  // partial gradients are rounded to the storage type
  bool differences = false;      // partial results a and b are merged as a + w (b - a)

  reference::Contract contract() const;
};

void PrintTo(const Arithmetic& arithmetic, std::ostream* os);

// What real implementations got wrong.
enum class Mistake {
  kNone,
  kLostForwardBlock,     // the last rank never sees the first block in its forward pass
  kStaleKv,              // backward, the last rank uses the K and V of the hop before
  kLocalLse,             // backward with the LSE of the block instead of the row
  kLocalD,               // backward with <dO, O> of the rank's own block instead of the row
  kZeroD,                // backward without it
  kLostGradientHop,      // the last partial dK and dV of the first owner never arrive
  kCopiedGradientHop,    // the last partial dK and dV replace the sum instead of joining it
  kLostQueryGradient,    // one partial dQ of the last rank is lost
  kZeroQueryGradient,
  kNarrowLse,            // LSE kept in bf16
  kZeroedRank,           // O of the last rank overwritten with zeros
  kGradientsTimesWorld,  // dQ, dK and dV reduced by sum where they are whole already
  kGradientsOverWorld,
  kUnreducedHeads,       // dK and dV of the first query head of a group instead of all
};
inline constexpr std::array kMistakes = {
    Mistake::kLostForwardBlock,    Mistake::kStaleKv,           Mistake::kLocalLse,
    Mistake::kLocalD,              Mistake::kZeroD,             Mistake::kLostGradientHop,
    Mistake::kCopiedGradientHop,   Mistake::kLostQueryGradient, Mistake::kZeroQueryGradient,
    Mistake::kNarrowLse,           Mistake::kZeroedRank,        Mistake::kGradientsTimesWorld,
    Mistake::kGradientsOverWorld,  Mistake::kUnreducedHeads};
const char* name_of(Mistake mistake);

// Ring attention over `world` contiguous shards with the rounding of `arithmetic` and no
// communication: partial results merged in ring order, gradients added in ring order. The inputs
// must be exact in the storage type; the results come back as float64.
reference::Tensors emulated_ring(const reference::Inputs& inputs, const Arithmetic& arithmetic,
                                 int world, Mistake mistake = Mistake::kNone);

}  // namespace ringcheck::reference_testing
