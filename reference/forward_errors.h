// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/error_model.h"
#include "reference/score_errors.h"
#include "reference/strip_view.h"

namespace ringcheck::reference {

// The errors of the forward pass in the rows of a strip.
struct ForwardErrors {
  Error lse;    // [pairs, rows, 1]
  Error o;      // [pairs, rows, dim_v], with the rounding of the stored output
  Error delta;  // [pairs, rows, 1]
};

// Formulas (3) to (5).
ForwardErrors forward_errors(const ErrorModel& model, const StripView& strip, const Keys& keys,
                             ScoreErrors& scores);

}  // namespace ringcheck::reference
