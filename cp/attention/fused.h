// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cp/attention/partial.h"
#include "cp/registry.h"
#include "cp/attention/rope.h"

namespace ringcheck {

// Forms of merge, rotate and row_dots that do all in one pass over memory, for one kind of device:
// of merge and rotate the same operations in the same order as the ones written in tensor
// operations, each rounded, so the same bits. They are used where there are any for their tensors.
struct Fused {
  // a and b into `sum`, which may be one of them. LSE is in an accumulation type, O of each in that or a 16-bit one, to
  // which that of `sum` is rounded. The rows of a head lie one behind the other, heads anywhere, as far from each other as the next.
  std::function<void(const Partial& a, const Partial& b, const Partial& sum)> merge;
  // x [batch, heads, slots, dim], contiguous; positions [slots] and frequencies [dim / 2] in
  // float64, on the device of x; direction 1 or -1. The result is in accumulation type.
  std::function<at::Tensor(const at::Tensor& x, const at::Tensor& positions,
                           const at::Tensor& frequencies, Rope::Pairing pairing, double direction)>
      turn;
  // Of contiguous tensors of one dtype and shape. It adds up in an order of its own.
  std::function<at::Tensor(const at::Tensor& a, const at::Tensor& b)> row_dots;
};
using FusedForms = Registry<Fused>;  // by kind of device: "cuda"

// Those for tensors of this device, or null. A library that brings some was loaded before a tensor
// of its device could be made.
const Fused* fused_on(at::Device device);

// Of a and b, [..., n] and of one dtype, the sums over n of their products, in accumulation type.
at::Tensor row_dots(const at::Tensor& a, const at::Tensor& b);

// The same in tensor operations, for every device: what the fused forms are held to.
Partial merge_by_tensors(const Partial& a, const Partial& b);
at::Tensor row_dots_by_tensors(const at::Tensor& a, const at::Tensor& b);
at::Tensor turn_by_tensors(const at::Tensor& x, const at::Tensor& positions,
                           const at::Tensor& frequencies, Rope::Pairing pairing, double direction);

}  // namespace ringcheck
