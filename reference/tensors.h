// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace ringcheck::reference {

// One value per element of every judged tensor, in float64.
struct Tensors {
  at::Tensor o;    // [batch, q_heads, seq, dim_v]
  at::Tensor lse;  // [batch, q_heads, seq], natural logarithm
  at::Tensor dq;   // [batch, q_heads, seq, dim]
  at::Tensor dk;   // [batch, kv_heads, seq, dim]
  at::Tensor dv;   // [batch, kv_heads, seq, dim_v]
};

}  // namespace ringcheck::reference
