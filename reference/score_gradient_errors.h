// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "reference/error_model.h"
#include "reference/score_errors.h"
#include "reference/strip_view.h"

namespace ringcheck::reference {

// dS = T = P (G - delta) in one tile, where G = dO v^T. All are [pairs, rows, columns].
struct ScoreGradients {
  at::Tensor value;      // T
  at::Tensor magnitude;  // |T|
  at::Tensor square;     // T^2
  at::Tensor p_g;        // P sigma^G
  at::Tensor p_lost;     // e_P = min(P, eta_e): what is lost of P where it underflows
  Error error;           // the part of T's error that is independent from key to key
};

// Formula (6).
ScoreGradients score_gradients(const ErrorModel& model, const StripView& strip, const Tile& tile,
                               const Operand& v, const Scores& scores);

}  // namespace ringcheck::reference
