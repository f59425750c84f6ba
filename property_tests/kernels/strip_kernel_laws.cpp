// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What calls a library strip by strip: the same as a kernel that knows every mask.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "kernels/strip_kernel.h"
#include "parity/case/case.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/kernels/kernel_blocks.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

// A library of one query and key head, in float64, that knows full strips, causal ones and bands.
class Library final : public StripKernel {
 public:
  std::optional<std::string> refuses(const BlockShape&) const override { return std::nullopt; }

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

RC_GTEST_PROP(StripKernel, CallsMakeTheBlock, ()) {
  const parity::Case test = *gen::test_case().as("case");
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  const auto shard = [&](const char* name) { return layout[*gen::between(0, test.world - 1).as(name)]; };
  const Positions queries = shard("queries of"), keys = shard("keys of");
  const uint64_t seed = *gen::seed().as("seed");
  const auto drawn = [&](const Positions& of, uint64_t salt) {
    return normal({2, 1, count(of), 4}, seed + salt, at::kDouble);
  };
  const QBlock q{drawn(queries, 1), queries};
  const KvBlock kv = apart(drawn(keys, 2), drawn(keys, 3), keys);
  const at::Tensor d_o = drawn(queries, 4);
  const Scores scores{parity::mask_of(test), *rc::gen::element(0.5, -2.0).as("scale")};
  const Visibility visibility = visibility_of(q, kv, scores);

  const Library library;
  const AttentionKernel& plain = *AttentionKernels::at("plain");
  const Partial whole = plain.forward(q, kv, scores, visibility), part = library.forward(q, kv, scores, visibility);
  const Saved saved = saved_of(whole, d_o);
  const Gradients want = plain.backward(q, kv, saved, scores, visibility);
  const Gradients got = library.backward(q, kv, saved, scores, visibility);
  const auto near = [](const at::Tensor& a, const at::Tensor& b) { return at::allclose(a, b, 1e-11, 1e-11); };
  RC_ASSERT(near(part.out, whole.out));
  RC_ASSERT(near(part.lse, whole.lse));
  RC_ASSERT(near(got.dq, want.dq));
  RC_ASSERT(near(got.dk, want.dk));
  RC_ASSERT(near(got.dv, want.dv));
}

}  // namespace
}  // namespace ringcheck
