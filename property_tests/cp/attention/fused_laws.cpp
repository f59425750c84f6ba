// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/fused.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "property_tests/parity/case/generators.h"
#include "property_tests/test_device.h"

// Fused forms give the bits of the tensor operations that they stand for. There are some for GPUs
// only: with RINGCHECK_TEST_DEVICE=cpu these laws compare the tensor operations with themselves.
namespace ringcheck {
namespace {

Partial on_device(const Partial& x) { return {x.out.to(test_device()), x.lse.to(test_device())}; }

double unit_roundoff(at::ScalarType type) { return type == at::kDouble ? 0x1p-53 : 0x1p-24; }

int merges = 0;

// A form for the device that only knows sizes.
const FusedForms::Add registered{
    "meta", {[](const Partial&, const Partial&, const Partial&) { ++merges; },
             [](const at::Tensor&, const at::Tensor&, const at::Tensor&, Rope::Pairing, double) {
               return at::ones({1});
             },
             [](const at::Tensor&, const at::Tensor&) { return at::ones({1}); }}};

TEST(Fused, IsUsedForTensorsOfItsDevice) {
  const auto made = [](at::ScalarType lse) {
    return Partial{at::empty({1, 2, 3, 4}, at::TensorOptions(at::kMeta)),
                   at::empty({1, 2, 3}, at::TensorOptions(at::kMeta).dtype(lse))};
  };
  const Partial a = made(at::kFloat);
  merge(a, a);
  EXPECT_EQ(merges, 1);
  // Others go to the tensor operations, some of which do not know this device.
  EXPECT_THROW(merge(a, made(at::kDouble)), c10::Error);
  const Partial strided{a.out.transpose(2, 3).contiguous().transpose(2, 3), a.lse};
  merge(a, strided);
  EXPECT_EQ(merges, 2) << "laid out anew";
  EXPECT_THROW(merge_into(strided, a, a), c10::Error) << "what is written must lie by rows";
  EXPECT_EQ(merges, 2);
  EXPECT_EQ(row_dots(a.out, a.out).numel(), 1);
  EXPECT_EQ(row_dots(strided.out, a.out).numel(), 6);  // tensor operations
  Rope rope;
  rope.pairing = Rope::Pairing::kHalf;
  EXPECT_EQ(rotate(a.out, rope, {Full{}, 3}, {{0, 3}}).numel(), 1);
}

// However wide a head is, products of 16-bit numbers are not rounded to 16 bits: here they cancel but for what that would take away.
TEST(Fused, RowDotsAreOfWideProducts) {
  for (const int64_t dim : {2, 64, 128, 130, 256})
    for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf}) {
      const at::Tensor signs = 1 - 2 * at::arange(dim).remainder(2), a = at::full({1, 1, 3, dim}, 1.0078125, dtype);
      const at::Tensor b = (a * signs).to(dtype).index_fill(3, at::zeros({1}, at::kLong), 1);
      const double want = 1.0078125 - 1.0078125 * 1.0078125;
      EXPECT_TRUE(row_dots_by_tensors(a, b).eq(want).all().item<bool>()) << dim << " " << dtype;
    }
}

TEST(Fused, IsThereForGpusAndOnlyThere) {
  EXPECT_EQ(fused_on(test_device()) != nullptr, test_device_type() == at::kCUDA);
  EXPECT_EQ(fused_on(at::kCPU), nullptr);
}

// merge, with empty rows and LSEs up to 10000 apart.
RC_GTEST_PROP(Fused, MergeHasTheBitsOfTensorOperations, ()) {
  const gen::PartialShape shape = *gen::partial_shape().as("shape");
  const double apart = *gen::choice<double>({1, 0.01, 30, 100, 1e4}).as("LSE spread");
  const uint64_t seed = *gen::seed().as("seed");
  const Partial a = gen::partial(shape, seed, apart), b = gen::partial(shape, seed + 10, apart);
  const Partial merged = merge(on_device(a), on_device(b));
  RC_ASSERT(difference(merged, merge_by_tensors(on_device(a), on_device(b))) == "");
  RC_ASSERT(difference(merge(on_device(b), on_device(a)), merged) == "");
  // The host's exp and log are other ones.
  const Partial host = merge_by_tensors(a, b);
  const double u = unit_roundoff(a.out.scalar_type());
  const at::Tensor most = at::maximum(a.out.abs(), b.out.abs());
  RC_ASSERT(((merged.out.cpu() - host.out).abs() <= most * (16 * u)).all().item<bool>());
  const at::Tensor seen = host.lse.isfinite();
  RC_ASSERT(at::equal(merged.lse.cpu().isneginf(), host.lse.isneginf()));
  RC_ASSERT(((merged.lse.cpu() - host.lse).abs() <= (host.lse.abs() + 1) * (4 * u))
                .masked_select(seen)
                .all()
                .item<bool>());
}

// Tensors that the fused form does not take go the other way.
RC_GTEST_PROP(Fused, StridedPartialsMergeAlike, ()) {
  gen::PartialShape shape = *gen::partial_shape().as("shape");
  const uint64_t seed = *gen::seed().as("seed");
  const Partial a = on_device(gen::partial(shape, seed, 1));
  const Partial b = on_device(gen::partial(shape, seed + 10, 1));
  const Partial strided{a.out.transpose(1, 2).contiguous().transpose(1, 2), a.lse};
  RC_ASSERT(difference(merge(strided, b), merge(a, b)) == "");
}

// So do results of a kernel that rounds: widened, they are the same numbers.
RC_GTEST_PROP(Fused, RoundedPartialsMergeAsTheirNumbers, ()) {
  gen::PartialShape shape = *gen::partial_shape().as("shape");
  shape.dtype = at::kFloat;
  const uint64_t seed = *gen::seed().as("seed");
  const auto rounded = [](const Partial& x, at::ScalarType type) { return Partial{x.out.to(type), x.lse}; };
  const auto types = {at::kFloat, at::kBFloat16, at::kHalf};
  const Partial exact_a = on_device(gen::partial(shape, seed, 1)), exact_b = on_device(gen::partial(shape, seed + 10, 1));
  for (const at::ScalarType type_a : types)
    for (const at::ScalarType type_b : types) {
      const Partial a = rounded(exact_a, type_a), b = rounded(exact_b, type_b), merged = merge(a, b);
      RC_ASSERT(merged.out.scalar_type() == at::kFloat);
      RC_ASSERT(difference(merged, merge_by_tensors(rounded(a, at::kFloat), rounded(b, at::kFloat))) == "");
      for (const at::ScalarType type : types) RC_ASSERT(difference(merge_to(type, a, b), rounded(merged, type)) == "");
    }
}

// Some rows of a larger result, and over one of the two: nothing else is written.
RC_GTEST_PROP(Fused, MergesIntoRowsOfAResult, ()) {
  const gen::PartialShape shape = *gen::partial_shape().as("shape");
  const uint64_t seed = *gen::seed().as("seed");
  const Partial a = on_device(gen::partial(shape, seed, 30)), b = on_device(gen::partial(shape, seed + 10, 30));
  const Partial expected = merge(a, b);
  const int64_t before = *gen::between(0, 3).as("rows before"), after = *gen::between(0, 3).as("rows behind");
  const auto larger = [&](const at::Tensor& x) {
    auto sizes = x.sizes().vec();
    sizes[2] += before + after;
    return at::full(sizes, 7, x.options());
  };
  const Partial all{larger(a.out), larger(a.lse)};
  const auto rows = [&](const at::Tensor& x) { return x.narrow(2, before, a.lse.size(2)); };
  const Partial some{rows(all.out), rows(all.lse)};
  for (const bool over_a : {false, true}) {
    if (over_a) {
      some.out.copy_(a.out);
      some.lse.copy_(a.lse);
    }
    merge_into(some, over_a ? some : a, b);
    RC_ASSERT(difference({some.out.contiguous(), some.lse.contiguous()}, expected) == "");
    for (const at::Tensor& x : {all.out, all.lse}) {
      RC_ASSERT((x.narrow(2, 0, before) == 7).all().item<bool>());
      RC_ASSERT((x.narrow(2, before + a.lse.size(2), after) == 7).all().item<bool>());
    }
  }
}

// x among other heads and behind so many numbers: neither aligned nor contiguous.
at::Tensor among_heads(const at::Tensor& x, int64_t before, int64_t behind, int64_t offset) {
  auto sizes = x.sizes().vec();
  sizes[1] += before + behind;
  const int64_t all = c10::multiply_integers(sizes);
  const at::Tensor view = at::full({all + offset}, 7, x.options()).narrow(0, offset, all).view(sizes).narrow(1, before, x.size(1));
  view.copy_(x);
  return view;
}

RC_GTEST_PROP(Fused, MergesViewsAsTheirNumbers, ()) {
  gen::PartialShape shape = *gen::partial_shape().as("shape");
  shape.dim_v = *gen::choice<int64_t>({1, 3, 4, 64, 128, 132, 256}).as("channels");
  const uint64_t seed = *gen::seed().as("seed");
  const Partial a = on_device(gen::partial(shape, seed, 1)), b = on_device(gen::partial(shape, seed + 10, 1));
  const auto view = [&](const Partial& x) {
    const auto drawn = [](int64_t most, const char* name) { return *gen::between(0, most).as(name); };
    return Partial{among_heads(x.out, drawn(2, "heads before"), drawn(2, "heads behind"), drawn(5, "offset")),
                   among_heads(x.lse, drawn(2, "heads before"), drawn(2, "heads behind"), drawn(5, "offset"))};
  };
  const Partial expected = merge_by_tensors(a, b), sum = view(a);
  RC_ASSERT(difference(merge(view(a), view(b)), expected) == "");
  merge_into(sum, view(a), view(b));
  RC_ASSERT(difference({sum.out.contiguous(), sum.lse.contiguous()}, expected) == "");
}

// D = rowsum(dO * O), against the sum in float64: n products and n - 1 sums, each rounded.
RC_GTEST_PROP(Fused, RowDotsAreSumsOfProducts, ()) {
  const at::ScalarType dtype = *gen::dtype().as("dtype");
  const int64_t n = *gen::between(1, 300).as("channels"), slots = *gen::between(1, 40).as("slots");
  const uint64_t seed = *gen::seed().as("seed");
  const at::Tensor a = normal({2, 3, slots, n}, seed, dtype).to(test_device());
  const at::Tensor b = normal({2, 3, slots, n}, seed + 1, dtype).to(test_device());
  const at::Tensor products = a.to(at::kDouble) * b.to(at::kDouble), dots = row_dots(a, b);
  RC_ASSERT(dots.scalar_type() == accumulation_type(dtype));
  const double u = unit_roundoff(dots.scalar_type());
  RC_ASSERT(((dots - products.sum(-1)).abs() <= products.abs().sum(-1) * (2 * n * u)).all().item<bool>());
  RC_ASSERT(at::equal(row_dots(a, b), dots));
  const at::Tensor strided = a.transpose(1, 2).contiguous().transpose(1, 2);
  RC_ASSERT(((row_dots(strided, b) - dots).abs() <= products.abs().sum(-1) * (2 * n * u)).all().item<bool>());
}

// rotate and rotate_back, up to position 2^20.
RC_GTEST_PROP(Fused, RotationHasTheBitsOfTensorOperations, ()) {
  const int64_t slots = *gen::between(1, 40).as("slots"), pairs = *gen::between(1, 70).as("pairs");
  const at::ScalarType dtype = *gen::dtype().as("dtype");
  const uint64_t seed = *gen::seed().as("seed");
  const auto pairing = *gen::choice<Rope::Pairing>(
      {Rope::Pairing::kHalf, Rope::Pairing::kInterleaved}).as("pairing");
  const double direction = *gen::flag().as("back") ? -1 : 1;
  Rope rope;
  rope.pairing = pairing;
  const Positions positions{{*gen::between(0, 1 << 20).as("first"), slots,
                             *gen::between(1, 5).as("stride")}};
  const at::Tensor x = normal({2, 3, slots, 2 * pairs}, seed, dtype).to(test_device());
  const Mask mask{Full{}, 1 << 21};
  const auto exact = x.options().dtype(at::kDouble);
  std::vector<double> f;
  for (int64_t c = 0; c < pairs; ++c)
    f.push_back(
        std::pow(rope.base, -2.0 * static_cast<double>(c) / static_cast<double>(2 * pairs)));
  const at::Tensor expected =
      turn_by_tensors(x, at::tensor(flatten(positions), at::kLong).to(exact),
                      at::tensor(f, at::kDouble).to(exact), pairing, direction);
  const auto turn = direction < 0 ? rotate_back : rotate;
  RC_ASSERT(difference(turn(x, rope, mask, positions), expected) == "");
  // Not contiguous: the same.
  const at::Tensor strided = x.transpose(1, 2).contiguous().transpose(1, 2);
  RC_ASSERT(difference(turn(strided, rope, mask, positions), expected) == "");
}

}  // namespace
}  // namespace ringcheck
