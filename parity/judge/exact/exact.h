// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// What the oracles with exact answers have in common.
#pragma once

#include <ATen/core/Tensor.h>

#include "parity/judge/comparison.h"
#include "parity/judge/oracle.h"

namespace ringcheck::parity {

// Every element must be what some number within `error` of `expected` is rounded to by its dtype: with
// error 0 the correctly rounded value itself. A NaN fails. `expected` and `error` in float64, on any device;
// names the first element that is not, and how many.
TensorVerdict compare_exact(const Case& test, const std::string& name, const at::Tensor& actual,
                            const at::Tensor& expected, const at::Tensor& error);
TensorVerdict compare_exact(const Case& test, const std::string& name, const at::Tensor& actual,
                            const at::Tensor& expected);

// An oracle has nothing to say, with the reason.
OracleVerdict not_applicable(const std::string& reason);

// Of each query, the sum over the keys that it sees: x [batch, heads, seq, n] to the same shape,
// in float64, added up where x lies and handed to the CPU. Pad slots of x may hold anything.
at::Tensor sum_of_visible(const Evidence& evidence, const at::Tensor& x);

// n_i of every batch entry and position [batch, 1, seq], in float64, from the closed forms.
at::Tensor keys_seen(const Case& test);

// x [batch, kv_heads, ...] as the query heads see it: [batch, q_heads, ...], in float64 on the CPU.
at::Tensor for_query_heads(const Case& test, const at::Tensor& x);

}  // namespace ringcheck::parity
