// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/subject/outcome.h"
#include "reference/errors/bounds.h"

namespace ringcheck::parity {

// What the reference is given to judge an outcome of these tensors: exactly the q and k that were
// attended.
reference::Inputs inputs_of(const Case& test, const Problem& problem, const Outcome& outcome);

// Some entries of a batch for the reference, as long as they are; and where they stand in the case.
struct EntriesOfInputs {
  Entries entries;
  reference::Inputs inputs;
};
std::vector<EntriesOfInputs> by_entries(const Case& test, const reference::Inputs& whole);

// Whether some slot of a rank, or of a packed document, holds no token: generated problems have NaN there.
bool has_pads(const Case& test);

// Whether the scores of a row are rounded alike, as its keys are the same (DataFamily::independent).
bool rounds_alike(const Case& test);

// Whether other numbers beside those of its data may leave the range of its dtype.
bool fills_its_range(const Case& test);

// Of a batch entry, by position, how much wider than sigma the error of LSE is: the root of the keys
// seen where scores are rounded alike, as their errors do not average out, else 1. On the CPU.
at::Tensor spread_of_lse(const Case& test, int64_t entry, const std::vector<int64_t>& positions);

// The truth about an outcome of these tensors, and how far an implementation with these promises
// may be from it.
reference::Judgement truth_of(const Case& test, const Promise& promise, const Problem& problem,
                              const Outcome& outcome, const std::function<void()>& tick);

}  // namespace ringcheck::parity
