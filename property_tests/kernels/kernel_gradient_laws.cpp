// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "parity/subject/contract.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/kernels/kernel_blocks.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/property.h"

// Both passes of every registered kernel; what it refuses is not drawn.
namespace ringcheck {
namespace {

std::string difference(const Gradients& a, const Gradients& b) {
  for (const auto& [name, x, y] :
       {std::tuple{"dq ", a.dq, b.dq}, {"dk ", a.dk, b.dk}, {"dv ", a.dv, b.dv}})
    if (const std::string where = ringcheck::difference(x, y); !where.empty())
      return name + where;
  return "";
}

// A block in both passes: the final output is that of the block alone.
struct Block {
  QBlock q;
  KvBlock kv;
  Saved saved;

  Block(const KernelCase& test, const parity::Problem& p)
      : q(query_block(p.q, test.order)),
        kv(key_block(p.k, p.v, test.order)),
        saved(saved_of(test.forward(q, kv),
                       picked(p.d_o, test.order))) {}
  Gradients gradients(const KernelCase& test) const {
    return test.backward(q, kv, saved);
  }
};

// O, LSE and the gradients of one block are those of attention, within the bounds.
RC_GTEST_PROP(KernelGradients, OneBlockIsAttention, ()) {
  const KernelCase test = *gen::kernel_case().as("case");
  const parity::Problem p = test.problem();
  RC_ASSERT(beyond(as_one_block(test, p), kernel_judgement(test, p, 1)) == "");
}

// Given the final O and LSE, the gradients of a ++ b are those of a and of b: dQ adds up.
RC_GTEST_PROP(KernelGradients, SplittingTheKeysSplitsTheGradients, ()) {
  const KernelCase test = *gen::kernel_case().as("case");
  const int64_t cut = *gen::between(1, std::max<int64_t>(1, test.slots() - 1)).as("cut");
  RC_PRE(cut < test.slots());
  const parity::Problem p = test.problem();
  const std::vector<int64_t> a(test.order.begin(), test.order.begin() + cut);
  const std::vector<int64_t> b(test.order.begin() + cut, test.order.end());
  const QBlock q = query_block(p.q, test.order);
  const KvBlock first = key_block(p.k, p.v, a), second = key_block(p.k, p.v, b);
  const Partial whole = merge(test.forward(q, first),
                              test.forward(q, second));
  const Saved saved = saved_of(whole, picked(p.d_o, test.order));
  const Gradients da = test.backward(q, first, saved);
  const Gradients db = test.backward(q, second, saved);
  const auto back = [&](const at::Tensor& x) { return unpicked(x, test.order, test.mask.length); };
  RC_ASSERT(beyond({back(whole.out), back(whole.lse), back(da.dq + db.dq),
                    back(at::cat({da.dk, db.dk}, 2)), back(at::cat({da.dv, db.dv}, 2))},
                   kernel_judgement(test, p, 2)) == "");
}

// GQA is MHA with repeated K and V; its dK and dV are the sums over the group.
RC_GTEST_PROP(KernelGradients, GroupedQueriesAreRepeatedKeys, ()) {
  const KernelCase test = *gen::kernel_case().as("case");
  const parity::Problem p = test.problem();
  KernelCase mha = test;
  mha.kv_heads = test.q_heads();
  mha.group = 1;
  reference::Tensors actual = as_one_block(mha, {p.q, p.k.repeat_interleave(test.group, 1),
                                                 p.v.repeat_interleave(test.group, 1), p.d_o});
  actual.dk = actual.dk.unflatten(1, {test.kv_heads, test.group}).sum(2);
  actual.dv = actual.dv.unflatten(1, {test.kv_heads, test.group}).sum(2);
  RC_ASSERT(beyond(actual, kernel_judgement(test, p, 1)) == "");
}

// A block of which no query sees a key has zero gradients, bit for bit, of the right sizes.
RC_GTEST_PROP(KernelGradients, AnEmptyBlockHasNoGradients, ()) {
  KernelCase test = *gen::kernel_case().as("case");
  const parity::Problem p = test.problem();
  const bool blind = *gen::flag().as("rows saw nothing at all");
  Block block(test, p);
  if (blind)
    block.saved.lse.fill_(-INFINITY);
  test.mask.length = 0;
  const auto wide = at::TensorOptions(accumulation_type(test.dtype));
  RC_ASSERT(
      difference(block.gradients(test), {at::zeros(p.q.sizes(), wide), at::zeros(p.k.sizes(), wide),
                                         at::zeros(p.v.sizes(), wide)}) == "");
}

// Rows that saw nothing have dQ = 0 and bring nothing to dK and dV; nothing is ever NaN.
RC_GTEST_PROP(KernelGradients, RowsThatSeeNothingBringNothing, ()) {
  const KernelCase test = *gen::kernel_case().as("case");
  const parity::Problem p = test.problem();
  const Block block(test, p);
  const at::Tensor blind = block.saved.lse.isneginf().unsqueeze(-1);
  Block loud = block;
  loud.q.q = block.q.q.masked_fill(blind, 1000);
  loud.saved.d_o = block.saved.d_o.masked_fill(blind, -1000);
  const Gradients quiet = block.gradients(test);
  RC_ASSERT(difference(loud.gradients(test), quiet) == "");
  RC_ASSERT(quiet.dq.masked_select(blind).eq(0).all().item<bool>());
  for (const at::Tensor& x : {quiet.dq, quiet.dk, quiet.dv})
    RC_ASSERT(x.isfinite().all().item<bool>());
}

// A query that may not see a key does not change a bit of its dK and dV, nor the key of its dQ.
RC_GTEST_PROP(KernelGradients, InvisiblePairsBringNothing, ()) {
  const KernelCase test = *gen::kernel_case().as("case");
  const int64_t slot = *gen::between(0, test.slots() - 1).as("slot");
  const parity::Problem p = test.problem();
  const auto n = static_cast<int64_t>(std::ranges::find(test.order, slot) - test.order.begin());
  const Block block(test, p);
  Block other = block;
  for (at::Tensor* x : {&other.q.q, &other.saved.d_o, &other.saved.d})
    *x = x->clone();
  other.q.q.select(2, n).mul_(-1).add_(1);
  other.saved.d_o.select(2, n).mul_(2).sub_(1);
  other.saved.d.select(2, n).add_(1);
  const Gradients a = block.gradients(test), b = other.gradients(test);
  for (size_t j = 0; j < test.order.size(); ++j)
    if (!visible(test.mask, slot, test.order[j])) {
      const int64_t key = static_cast<int64_t>(j);
      RC_ASSERT(at::equal(a.dk.select(2, key), b.dk.select(2, key)));
      RC_ASSERT(at::equal(a.dv.select(2, key), b.dv.select(2, key)));
    }
}

// dO times a power of two scales every gradient bit for bit.
RC_GTEST_PROP(KernelGradients, GradientsScaleWithTheirSource, ()) {
  KernelCase test = *gen::kernel_case().as("case");
  if (test.dtype == at::kHalf)
    test.dtype = at::kBFloat16;  // fp16 may underflow
  const double factor = *gen::choice<double>({2, 0.25, 16}).as("factor");
  const parity::Problem p = test.problem();
  Block block(test, p);
  const Gradients plain = block.gradients(test);
  block.saved.d_o = block.saved.d_o * factor;
  block.saved.d = block.saved.d * factor;
  RC_ASSERT(difference(block.gradients(test),
                       {plain.dq * factor, plain.dk * factor, plain.dv * factor}) == "");
}

// The scale enters once: doubling it is doubling q, and doubles dQ, bit for bit.
RC_GTEST_PROP(KernelGradients, ScaleMultipliesTheScores, ()) {
  KernelCase test = *gen::kernel_case().as("case");
  if (test.dtype == at::kHalf)
    test.dtype = at::kBFloat16;  // fp16 may underflow
  parity::Problem p = test.problem();
  p.q.mul_(2);
  Gradients doubled = Block(test, p).gradients(test);
  doubled.dq.mul_(2);
  p.q.mul_(0.5);
  test.scale *= 2;
  RC_ASSERT(difference(Block(test, p).gradients(test), doubled) == "");
}

// Of scores that are all 0, O is the mean of the V that is seen, whatever q and k are.
RC_GTEST_PROP(KernelGradients, AScaleOfZeroLeavesQueriesAndKeysNone, ()) {
  KernelCase test = *gen::kernel_case().as("case");
  const parity::Problem p = test.problem();
  test.scale = 0;
  const Gradients found = Block(test, p).gradients(test);
  RC_ASSERT(found.dq.eq(0).all().item<bool>());
  RC_ASSERT(found.dk.eq(0).all().item<bool>());
}

// Strides do not matter, within the bounds.
RC_GTEST_PROP(KernelGradients, StridesDoNotMatter, ()) {
  const KernelCase test = *gen::kernel_case().as("case");
  const parity::Problem p = test.problem();
  Block block(test, p);
  for (at::Tensor* x : {&block.q.q, &block.saved.o, &block.saved.d_o})
    *x = x->transpose(1, 2).contiguous().transpose(1, 2);
  const Gradients d = block.gradients(test);
  const reference::Judgement truth = kernel_judgement(test, p, 1);
  const auto back = [&](const at::Tensor& x) { return unpicked(x, test.order, test.mask.length); };
  RC_ASSERT(beyond({truth.value.o, truth.value.lse, back(d.dq), back(d.dk), back(d.dv)}, truth) ==
            "");
}

// The inputs are left as they were.
RC_GTEST_PROP(KernelGradients, InputsAreUntouched, ()) {
  const KernelCase test = *gen::kernel_case().as("case");
  const parity::Problem p = test.problem();
  const Block block(test, p), same(test, p);
  block.gradients(test);
  for (const auto& [x, y] : {std::pair{block.q.q, same.q.q},
                             {block.kv.packed, same.kv.packed},
                             {block.saved.o, same.saved.o},
                             {block.saved.lse, same.saved.lse},
                             {block.saved.d, same.saved.d},
                             {block.saved.d_o, same.saved.d_o}})
    RC_ASSERT(ringcheck::difference(x, y) == "");
}

KernelCase long_case(const std::string& kernel, decltype(Mask::kind) mask, at::ScalarType dtype) {
  KernelCase test{kernel, dtype, {mask, 297}, 2, 2, 2, 8, 8, 0.375, std::vector<int64_t>(300), 11};
  std::iota(test.order.begin(), test.order.end(), 0);
  return test;
}

// Several tiles of every kernel: 300 queries and keys under every mask, in order and reversed.
TEST(KernelGradients, LongBlocksAreAttention) {
  const Documents packed{{130, 140}, {1, 1}, {0, 9}, {147, 147}};
  int blocks = 0;
  for (const auto& [name, kernel] : AttentionKernels::all())
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16})
      for (const decltype(Mask::kind)& mask : {decltype(Mask::kind){Causal{}},
                                               {Full{}},
                                               {Window{70}},
                                               {Prefix{200}},
                                               {DocumentCausal{packed}},
                                               {DocumentFull{packed}}}) {
        KernelCase test = long_case(name, mask, dtype);
        if (kernel->refuses(test.shape()))
          continue;
        const parity::Problem p = test.problem();
        const reference::Judgement truth = kernel_judgement(test, p, 1);
        EXPECT_EQ(beyond(as_one_block(test, p), truth), "")
            << name << " " << parity::mask_text(mask);
        std::ranges::reverse(test.order);
        ++blocks;
        if (kernel->refuses(test.shape()))
          continue;
        EXPECT_EQ(beyond(as_one_block(test, p), truth), "") << name << " reversed";
      }
  EXPECT_GE(blocks, 12);
}

// Where a kernel promises the same bits, it keeps to that with many blocks of keys to add up, of queries and of heads that share one.
TEST(KernelGradients, LongBlocksRepeatTheirBits) {
  int kernels = 0;
  for (const auto& [name, kernel] : AttentionKernels::all())
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
      KernelCase test{name, dtype, {Causal{}, 1500}, 1, 2, 4, 64, 64, 0.125, std::vector<int64_t>(1500), 5};
      std::iota(test.order.begin(), test.order.end(), 0);
      if (!parity::contract_json(name).at("deterministic").get<bool>() || kernel->refuses(test.shape())) continue;
      ++kernels;
      const parity::Problem p = test.problem();
      const reference::Tensors first = as_one_block(test, p);
      for (int again = 0; again < 3; ++again) {
        const reference::Tensors next = as_one_block(test, p);
        for (at::Tensor reference::Tensors::*x : {&reference::Tensors::o, &reference::Tensors::lse, &reference::Tensors::dq,
                                                  &reference::Tensors::dk, &reference::Tensors::dv})
          EXPECT_EQ(ringcheck::difference(next.*x, first.*x), "") << name;
      }
    }
  EXPECT_GE(kernels, 2);
}

// What a kernel cannot compute it refuses, with a reason that names the kernel.
TEST(KernelGradients, RefusalsNameTheKernel) {
  ASSERT_FALSE(kernels_on(at::kCPU).empty());
  for (const std::string& name : kernels_on(at::kCPU)) {
    const auto& kernel = AttentionKernels::at(name);
    BlockShape shape;
    EXPECT_EQ(kernel->refuses(shape), std::nullopt) << name;
    shape.dtype = at::kInt;
    const auto reason = kernel->refuses(shape);
    ASSERT_TRUE(reason.has_value()) << name;
    EXPECT_NE(reason->find(name), std::string::npos);
  }
}

}  // namespace
}  // namespace ringcheck
