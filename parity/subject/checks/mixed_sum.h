// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace ringcheck::parity {

// A trace of the bits of a contiguous tensor, [] int64 where that lies: the sum of its words, each mixed with its place, so that what
// changes many of them alike changes it, too. There is no copy of the tensor.
at::Tensor mixed_sum(const at::Tensor& x);

}  // namespace ringcheck::parity
