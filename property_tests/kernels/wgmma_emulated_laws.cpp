// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernel wgmma without a GPU: its sources, compiled for a Hopper that is emulated on the CPU, against attention
// written down in float64.
#include <ATen/ATen.h>
#include <ATen/TensorIndexing.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/cuda/wgmma_passes.cuh"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck::wgmma {
namespace {

struct Machine {
  CUtensorMap map(const Shape& s, const Matrix& x, int heads, int slots, int dim) const {
    return {static_cast<const uint16_t*>(x.data), {dim, slots, heads, s.batch}, {1, x.slot, x.head, x.batch}};
  }
  template <class Memory, class Kernel, class... Arguments>
  void launch(Kernel kernel, dim3 grid, int slices, const Arguments&... arguments) const {
    static_assert(sizeof(Memory) <= kMostShared);
    emulated::run_grid({grid.x, grid.y, static_cast<unsigned>(slices)}, kThreads, [&] { kernel(arguments...); });
  }
};

constexpr double kFloat = 2e-5;    // relative to sums of sizes, over what these cases add up
constexpr double kTiny = 0x1p-24;  // fp16 has nothing smaller
constexpr float kUntouched = 12345;

// [batch, heads, slots, dim], slots before heads in memory and room behind each row, all `fill`.
at::Tensor laid_out(int batch, int heads, int slots, int dim, at::ScalarType dtype, double fill) {
  return at::full({batch, slots, heads, dim + 8}, fill, dtype).transpose(1, 2);
}
at::Tensor rows_of(const at::Tensor& x) { return x.narrow(3, 0, x.size(3) - 8); }
bool untouched(const at::Tensor& x) { return (x == kUntouched).all().item<bool>(); }
Matrix matrix(const at::Tensor& x) { return {x.data_ptr(), x.stride(0), x.stride(1), x.stride(2)}; }

// Of each query which keys it sees, [rows, columns], and whether it is in a part.
at::Tensor seen_keys(const Shape& s) {
  at::Tensor seen = at::zeros({s.rows, s.columns}, at::kBool);
  for (const Part& part : s.parts)
    for (int i = part.row; i < part.row + part.rows; ++i) {
      const int first = std::max(part.column, i + part.lower);
      const int end = std::min(part.column + part.columns, i + part.upper + 1);
      if (first < end) seen[i].slice(0, first, end).fill_(true);
    }
  return seen;
}
at::Tensor rows_in_parts(const Shape& s) {
  at::Tensor in = at::zeros({s.rows}, at::kBool);
  for (const Part& part : s.parts) in.narrow(0, part.row, part.rows).fill_(true);
  return in;
}

// A sum of products, and how far a result may be off where the left factor was rounded to 16 bits.
struct Near {
  at::Tensor value, bound;
  Near(const at::Tensor& left, const at::Tensor& uncertainty, const at::Tensor& right, const Shape& s)
      : value(at::matmul(left, right)),
        bound(at::matmul(left.abs() * (s.bf16 ? 0x1p-8 : 0x1p-11) + uncertainty, right.abs())) {}
  // Heads that share a key are summed.
  Near of_groups(int kv_heads) const {
    Near sum = *this;
    for (at::Tensor* x : {&sum.value, &sum.bound}) *x = x->unflatten(1, {kv_heads, -1}).sum(2);
    return sum;
  }
  bool holds(const at::Tensor& got) const { return ((got - value).abs() <= bound + 1e-30).all().item<bool>(); }
};

// What is given, rounded to 16 bits, NaN between its rows; and attention of it, in float64.
struct Attention {
  Shape shape;
  at::Tensor q, k, v, d_o;
  at::Tensor seen, in_parts;
  at::Tensor wide_q, wide_k, wide_v, wide_d_o;  // [batch, q_heads, ...]
  at::Tensor p, p_error, lse, ds, ds_error, delta;

  explicit Attention(const Shape& s) : shape(s), seen(seen_keys(s)), in_parts(rows_in_parts(s)) {
    const auto drawn = [&](int heads, int slots, int dim) {
      const at::Tensor x = laid_out(s.batch, heads, slots, dim, s.bf16 ? at::kBFloat16 : at::kHalf, NAN);
      rows_of(x).copy_(at::randn(rows_of(x).sizes(), at::kDouble));
      return x;
    };
    q = drawn(s.q_heads, s.rows, s.dim), k = drawn(s.kv_heads, s.columns, s.dim);
    v = drawn(s.kv_heads, s.columns, s.dim_v), d_o = drawn(s.q_heads, s.rows, s.dim_v);
    const auto wide = [&](const at::Tensor& x) {
      return rows_of(x).to(at::kDouble).repeat_interleave(s.q_heads / x.size(1), 1);
    };
    wide_q = wide(q), wide_k = wide(k), wide_v = wide(v), wide_d_o = wide(d_o);
    const at::Tensor scores = (s.scale * at::matmul(wide_q, wide_k.mT())).masked_fill(~seen, -INFINITY);
    lse = at::logsumexp(scores, 3);
    p = (scores - lse.unsqueeze(3)).exp().masked_fill(~seen, 0);
    p_error = kFloat * p + kTiny * seen;
    const at::Tensor dp = at::matmul(wide_d_o, wide_v.mT());
    delta = (p * dp).sum(3);
    ds = p * (dp - delta.unsqueeze(3));
    const at::Tensor sizes = at::matmul(wide_d_o.abs(), wide_v.abs().mT());  // of the terms of dP
    ds_error = kFloat * p * (sizes + (p * sizes).sum(3, true)) + kTiny * seen;
  }
  bool untouched_elsewhere(const at::Tensor& x) const {
    return untouched(x.narrow(3, x.size(3) - 8, 8)) && untouched(slots_of(x, ~in_parts));
  }
  static at::Tensor slots_of(const at::Tensor& x, const at::Tensor& which) {
    return x.index({at::indexing::Slice(), at::indexing::Slice(), which});
  }
  at::Tensor of_parts(const at::Tensor& x) const { return slots_of(x, in_parts); }
};

// What is wrong; nothing where all is right.
std::string wrong_forward(const Attention& a) {
  const Shape& s = a.shape;
  const at::Tensor out = laid_out(s.batch, s.q_heads, s.rows, s.dim_v, at::kFloat, kUntouched);
  const at::Tensor lse = at::full({s.batch, s.q_heads, s.rows}, kUntouched, at::kFloat);
  forward_pass(Machine(), s, {matrix(a.q), matrix(a.k), matrix(a.v), matrix(out), lse.mutable_data_ptr<float>()});
  if (!a.untouched_elsewhere(out)) return "O where there is none";
  if (!untouched(a.slots_of(lse, ~a.in_parts))) return "LSE where there is none";
  if (!at::allclose(a.of_parts(lse).to(at::kDouble), a.of_parts(a.lse), kFloat, kFloat)) return "LSE";
  const Near near(a.of_parts(a.p), a.of_parts(a.p_error), a.wide_v, s);
  return near.holds(a.of_parts(rows_of(out))) ? "" : "O";
}

std::string wrong_backward(const Attention& a) {
  const Shape& s = a.shape;
  const at::Tensor dq = laid_out(s.batch, s.q_heads, s.rows, s.dim, at::kFloat, kUntouched);
  const at::Tensor dk = laid_out(s.batch, s.kv_heads, s.columns, s.dim, at::kFloat, kUntouched);
  const at::Tensor dv = laid_out(s.batch, s.kv_heads, s.columns, s.dim_v, at::kFloat, kUntouched);
  const at::Tensor lse = a.lse.to(at::kFloat), delta = a.delta.to(at::kFloat);
  backward_pass(Machine(), s, {matrix(a.q), matrix(a.k), matrix(a.v), matrix(a.d_o), matrix(dq), matrix(dk), matrix(dv),
                               lse.const_data_ptr<float>(), delta.const_data_ptr<float>()});
  if (!a.untouched_elsewhere(dq)) return "dQ where there is none";
  const Near near_q(a.of_parts(a.ds), a.of_parts(a.ds_error), s.scale * a.wide_k, s);
  if (!near_q.holds(a.of_parts(rows_of(dq)))) return "dQ";
  if (!untouched(dk.narrow(3, s.dim, 8))) return "dK where there is none";
  if (!untouched(dv.narrow(3, s.dim_v, 8))) return "dV where there is none";
  const Near near_k(a.ds.mT(), a.ds_error.mT(), s.scale * a.wide_q, s), near_v(a.p.mT(), a.p_error.mT(), a.wide_d_o, s);
  if (!near_k.of_groups(s.kv_heads).holds(rows_of(dk))) return "dK";
  return near_v.of_groups(s.kv_heads).holds(rows_of(dv)) ? "" : "dV";
}

// Parts of rows that lie one after another, some rows in none; full, causal, a band, or causal backwards.
std::vector<Part> some_parts(int rows, int columns) {
  std::vector<Part> parts;
  const int most = *rc::gen::element(rows, rows, (rows + 1) / 2, std::max(1, rows / 20));  // of a part
  for (int row = 0; row < rows;) {
    Part part;
    part.row = row;
    part.rows = *rc::gen::inRange(1, std::min(most, rows - row) + 1);
    part.column = *rc::gen::inRange(0, columns);
    part.columns = *rc::gen::inRange(1, columns - part.column + 1);
    const int kind = *rc::gen::inRange(0, 4);
    if (kind == 1 || kind == 2) part.upper = part.column + part.columns - part.row - part.rows;
    if (kind > 1) part.lower = part.column - part.row;
    row += part.rows;
    if (*rc::gen::inRange(0, 5) > 0) parts.push_back(part);
  }
  if (parts.empty()) parts.push_back({0, rows, 0, columns});
  return parts;
}

Shape some_shape() {
  Shape s;
  s.bf16 = *rc::gen::arbitrary<bool>();
  s.batch = *rc::gen::element(1, 1, 1, 2);
  s.kv_heads = *gen::between(1, 2);
  s.q_heads = s.kv_heads * *gen::between(1, 2);
  s.rows = *rc::gen::oneOf(gen::between(1, 99), gen::between(1, 199));
  s.columns = *rc::gen::oneOf(gen::between(1, 199), gen::between(1, 199), gen::between(200, 499));
  // Of each width that the kernels are compiled for as many.
  s.dim = 8 * *rc::gen::oneOf(gen::between(1, 8), gen::between(9, 16), gen::between(17, 24), gen::between(25, 32));
  s.dim_v = 8 * *rc::gen::oneOf(gen::between(1, 8), gen::between(9, 16), gen::between(17, 24), gen::between(25, 32));
  s.scale = *rc::gen::element(0.0f, 0.05f, 0.2f, 3 / std::sqrt(static_cast<float>(s.dim)));
  s.parts = some_parts(s.rows, s.columns);
  return s;
}

// Its numbers, and the order of what happens beside the threads, drawn as well.
Attention some_attention() {
  const Shape shape = some_shape();
  const auto seed = *rc::gen::arbitrary<uint32_t>();
  at::manual_seed(seed);
  emulated::draw_orders_by(seed);
  return Attention(shape);
}

RC_GTEST_PROP(WgmmaEmulated, ForwardIsAttention, ()) {
  RC_ASSERT(wrong_forward(some_attention()) == "");
}

RC_GTEST_PROP(WgmmaEmulated, BackwardIsItsGradient, ()) {
  RC_ASSERT(wrong_backward(some_attention()) == "");
}

// More thread blocks than a GPU computes at a time, and none of the heads is left out.
TEST(WgmmaEmulated, HeadsMayBeMoreThanProcessors) {
  Shape s;
  s.q_heads = s.kv_heads = kProcessors / 2 + 9;
  s.rows = s.columns = kBlockRows + 1;
  s.dim = s.dim_v = 8;
  s.parts = {{0, s.rows, 0, s.columns, -kNoLimit, 0}};
  const Attention attention(s);
  EXPECT_EQ(wrong_forward(attention), "");
  EXPECT_EQ(wrong_backward(attention), "");
}

}  // namespace
}  // namespace ringcheck::wgmma
