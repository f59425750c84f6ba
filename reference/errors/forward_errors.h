// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/errors/error_model.h"
#include "reference/errors/scores.h"
#include "reference/tiles/strip_view.h"

namespace ringcheck::reference {

// The errors of the forward pass in the rows of a strip.
struct ForwardErrors {
  Error lse;    // [pairs, rows, 1]
  Error o;      // [pairs, rows, dim_v], with the rounding of the stored output
  Error delta;  // [pairs, rows, 1]
};

// Formulas (3) to (5) of docs/numerics.md: of LSE, O and delta, the sum over channels of dO * O.
// `scores` is of the same strip.
ForwardErrors forward_errors(const ErrorModel& model, const StripView& strip, const Keys& keys,
                             Scores& scores, const Room& room);

// The same where the o and the lse of the solution are those of the implementation itself: what is
// left is the rounding of o, which the implementation may have used unrounded, formula (3) without
// its sum over the keys, with the lse in place of max, and formula (5).
ForwardErrors errors_of_given(const ErrorModel& model, const StripView& strip);

}  // namespace ringcheck::reference
