// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <stdexcept>

#include "kernels/strip_kernel.h"

namespace ringcheck {

// A library of as many key heads as query heads, in the dtype of its inputs, that knows full strips, causal ones and bands.
class StripLibrary : public StripKernel {
 public:
  std::optional<std::string> refuses(const BlockShape&) const override { return std::nullopt; }
  bool takes_d() const override { return true; }

 protected:
  Partial attend(const Call& call) const override {
    const at::Tensor scores = scores_of(call), lse = scores.logsumexp(3);
    return {at::matmul((scores - lse.unsqueeze(3)).exp(), call.v), lse};
  }

  Gradients differentiate(const Call& call, const Saved& saved) const override {
    const at::Tensor p = (scores_of(call) - saved.lse.unsqueeze(3)).exp();
    const at::Tensor ds = p * (at::matmul(saved.d_o, call.v.mT()) - saved.d.unsqueeze(3)) * call.scale;
    return {at::matmul(ds, call.k), at::matmul(ds.mT(), call.q), at::matmul(p.mT(), saved.d_o)};
  }

 private:
  static at::Tensor scores_of(const Call& call) {
    const int64_t rows = call.strip.rows, columns = call.strip.columns;
    if (rows != call.q.size(2) || columns != call.k.size(2)) throw std::logic_error("a strip of another size");
    const at::Tensor column = at::arange(columns), last = at::arange(columns - rows, columns).unsqueeze(1);
    at::Tensor hidden = at::zeros({rows, columns}, at::kBool);
    switch (call.strip.kind) {
      case Strip::Kind::kFull: break;
      case Strip::Kind::kCausal: hidden = column > last; break;
      case Strip::Kind::kBand: hidden = (column > last).logical_or(column <= last - call.strip.width); break;
      case Strip::Kind::kMirrored: throw std::logic_error("a strip that libraries do not know");
    }
    return (at::matmul(call.q, call.k.mT()) * call.scale).masked_fill(hidden, -INFINITY);
  }
};

}  // namespace ringcheck
