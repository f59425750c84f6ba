// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

// Notation: a + b is merge(a, b), e the identity.
namespace ringcheck {
namespace {

// Spreads of the LSE, up to gaps at which exp of a difference overflows or underflows.
rc::Gen<double> spread() { return gen::choice<double>({1, 0.01, 30, 100, 1e4}); }

double unit_roundoff(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? std::numeric_limits<double>::epsilon() / 2
                                        : std::numeric_limits<float>::epsilon() / 2;
}

// Weights and results of a + b from the definition, in float64.
Partial defined_merge(const Partial& a, const Partial& b) {
  const at::Tensor la = a.lse.to(at::kDouble), lb = b.lse.to(at::kDouble);
  const at::Tensor top = at::maximum(la, lb), shift = top.masked_fill(top.isneginf(), 0);
  const at::Tensor za = (la - shift).exp(), zb = (lb - shift).exp(), z = za + zb;
  const at::Tensor wa = (za / z.masked_fill(z == 0, 1)).unsqueeze(-1);
  const at::Tensor wb = (zb / z.masked_fill(z == 0, 1)).unsqueeze(-1);
  return {a.out.to(at::kDouble) * wa + b.out.to(at::kDouble) * wb, shift + z.log()};
}

// Nothing of |x - y| <= factor u (|scale|) fails; -inf equals -inf, and NaN fails.
bool within(const at::Tensor& x, const at::Tensor& y, const at::Tensor& scale, double bound) {
  const at::Tensor wide = x.to(at::kDouble), other = y.to(at::kDouble);
  const at::Tensor near = (wide - other).abs() <= scale.to(at::kDouble) * bound;
  return (near | (wide.isneginf() & other.isneginf())).all().item<bool>();
}

struct Operands {
  Partial a, b, c;
};

Operands draw() {
  const gen::PartialShape shape = *gen::partial_shape().as("shape");
  const double apart = *spread().as("LSE spread");
  const uint64_t seed = *gen::seed().as("seed");
  return {gen::partial(shape, seed, apart), gen::partial(shape, seed + 10, apart),
          gen::partial(shape, seed + 20, apart)};
}

// e + a = a = a + e, bit for bit, where a may itself have rows that saw no key.
RC_GTEST_PROP(Partial, IdentityIsNeutral, ()) {
  const Partial a = draw().a;
  const Partial e = Partial::identity(a.out.sizes(), a.out.options());
  RC_ASSERT(difference(merge(e, a), a) == "");
  RC_ASSERT(difference(merge(a, e), a) == "");
}

// e has out = 0 and lse = -inf, in the accumulation type of the dtype it is made for.
RC_GTEST_PROP(Partial, IdentityHasSeenNothing, ()) {
  const at::ScalarType dtype = *gen::dtype().as("dtype");
  const Partial e = Partial::identity({2, 3, 4, 5}, at::TensorOptions(dtype));
  const auto wide = at::TensorOptions(dtype == at::kDouble ? at::kDouble : at::kFloat);
  RC_ASSERT(difference(e.out, at::zeros({2, 3, 4, 5}, wide)) == "");
  RC_ASSERT(difference(e.lse, at::full({2, 3, 4}, -INFINITY, wide)) == "");
}

// a + b = b + a, bit for bit.
RC_GTEST_PROP(Partial, MergeIsCommutative, ()) {
  const Operands p = draw();
  RC_ASSERT(difference(merge(p.a, p.b), merge(p.b, p.a)) == "");
}

// A row that one side did not see is the other side's row, bit for bit.
RC_GTEST_PROP(Partial, EmptyRowsTakeTheOtherSide, ()) {
  const Operands p = draw();
  const Partial sum = merge(p.a, p.b);
  const at::Tensor a_empty = p.a.lse.isneginf(), b_empty = p.b.lse.isneginf();
  for (const auto& [empty, other] : {std::pair{a_empty, p.b}, std::pair{b_empty, p.a}}) {
    RC_ASSERT(difference(sum.lse.masked_select(empty), other.lse.masked_select(empty)) == "");
    const at::Tensor rows = empty.unsqueeze(-1).expand_as(sum.out);
    RC_ASSERT(difference(sum.out.masked_select(rows), other.out.masked_select(rows)) == "");
  }
}

// (a + b) + c = a + (b + c) up to roundings.
RC_GTEST_PROP(Partial, MergeIsAssociativeToRounding, ()) {
  const auto [a, b, c] = draw();
  const Partial left = merge(merge(a, b), c), right = merge(a, merge(b, c));
  const double u = unit_roundoff(a.out);
  // An LSE of size L carries L u, which is a relative error of the weights.
  const at::Tensor seen = at::maximum(at::maximum(a.lse, b.lse), c.lse);
  const at::Tensor size = seen.masked_fill(seen.isneginf(), 0).abs() + 4;
  const at::Tensor most = at::maximum(at::maximum(a.out.abs(), b.out.abs()), c.out.abs());
  RC_ASSERT(within(left.lse, right.lse, size, 16 * u));
  RC_ASSERT(within(left.out, right.out, most * size.unsqueeze(-1), 16 * u));
}

// exp(LSE of a + b) = exp(LSE of a) + exp(LSE of b), and out is the average with these weights.
RC_GTEST_PROP(Partial, MergeIsTheWeightedAverage, ()) {
  const Operands p = draw();
  const Partial sum = merge(p.a, p.b), exact = defined_merge(p.a, p.b);
  const double u = unit_roundoff(sum.out);
  const at::Tensor top = at::maximum(p.a.lse, p.b.lse);
  const at::Tensor size = top.masked_fill(top.isneginf(), 0).abs() + 4;
  RC_ASSERT(within(sum.lse, exact.lse, size, 8 * u));
  RC_ASSERT(within(sum.out, exact.out, at::maximum(p.a.out.abs(), p.b.out.abs()), 16 * u));
}

// No finite or empty operand makes a NaN or an infinite out, however far the LSEs are apart.
RC_GTEST_PROP(Partial, MergeIsNeverNan, ()) {
  const Operands p = draw();
  for (const double gap : {0.0, 88.0, 89.0, 104.0, 750.0, 1e4, -1e4, 1e30}) {
    const Partial sum = merge({p.a.out, p.a.lse + gap}, p.b);
    RC_ASSERT(sum.out.isfinite().all().item<bool>());
    RC_ASSERT((sum.lse.isfinite() | sum.lse.isneginf()).all().item<bool>());
  }
}

// Where one LSE is far above the other, that side is the result, bit for bit.
RC_GTEST_PROP(Partial, TheFarLargerSideWins, ()) {
  const gen::PartialShape shape = *gen::partial_shape().as("shape");
  const double gap = *gen::choice<double>({800, 1e4, 1e6}).as("gap");
  const uint64_t seed = *gen::seed().as("seed");
  const Partial high = gen::partial(shape, seed, 1);
  Partial low = gen::partial(shape, seed, 1);  // the same rows are empty
  low.lse -= gap;
  low.out = low.out.neg() - 1;
  low.out.masked_fill_(low.lse.isneginf().unsqueeze(-1), 0);
  RC_ASSERT(difference(merge(high, low), high) == "");
  RC_ASSERT(difference(merge(low, high), high) == "");
}

// a + a = (out of a, LSE of a + ln 2): the logarithm is the natural one. out is exact.
RC_GTEST_PROP(Partial, MergingWithItselfAddsLogTwo, ()) {
  const Partial a = draw().a;
  const Partial twice = merge(a, a);
  RC_ASSERT(at::equal(twice.out, a.out));
  RC_ASSERT(within(twice.lse, a.lse.to(at::kDouble) + std::log(2.0),
                   a.lse.masked_fill(a.lse.isneginf(), 0).abs() + 1, 2 * unit_roundoff(a.out)));
}

// Rows do not mix: merging some rows alone gives the same bits as merging all of them.
RC_GTEST_PROP(Partial, RowsAreIndependent, ()) {
  const Operands p = draw();
  const int64_t row = *gen::between(0, p.a.out.size(2) - 1).as("row");
  const auto at_row = [&](const Partial& x) {
    return Partial{x.out.narrow(2, row, 1).contiguous(), x.lse.narrow(2, row, 1).contiguous()};
  };
  RC_ASSERT(difference(merge(at_row(p.a), at_row(p.b)), at_row(merge(p.a, p.b))) == "");
}

// merge leaves its operands as they were.
RC_GTEST_PROP(Partial, MergeKeepsItsOperands, ()) {
  const Operands p = draw();
  const Partial a{p.a.out.clone(), p.a.lse.clone()}, b{p.b.out.clone(), p.b.lse.clone()};
  merge(p.a, p.b);
  RC_ASSERT(difference(p.a, a) == "");
  RC_ASSERT(difference(p.b, b) == "");
}

}  // namespace
}  // namespace ringcheck
