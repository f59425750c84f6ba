// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cp/ledger/ledger.h"
#include "cp/ledger/rounding.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/kernels/kernel_blocks.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/property.h"

// The forward pass of every registered kernel; what it refuses is not drawn.
namespace ringcheck {
namespace {

Partial attend(const KernelCase& test, const parity::Problem& p,
               const std::vector<int64_t>& queries, const std::vector<int64_t>& keys) {
  const Partial part = test.forward(query_block(p.q, queries), key_block(p.k, p.v, keys));
  return {part.out.cpu(), part.lse.cpu()};
}

// Where a forward pass over all slots, in so many blocks, is beyond its bounds.
std::string forward_beyond(const KernelCase& test, const parity::Problem& p, const Partial& part,
                           int blocks) {
  const reference::Judgement truth = kernel_judgement(test, p, blocks);
  reference::Tensors actual = truth.value;
  actual.o = unpicked(part.out, test.order, test.mask.length);
  actual.lse = unpicked(part.lse, test.order, test.mask.length);
  return beyond(actual, truth);
}

// 1 where the mask lets the query at slot i of `queries` see the key at slot j of `keys`.
at::Tensor predicate(const Mask& mask, const std::vector<int64_t>& queries,
                     const std::vector<int64_t>& keys) {
  at::Tensor seen = at::zeros(
      {static_cast<int64_t>(queries.size()), static_cast<int64_t>(keys.size())}, at::kDouble);
  for (size_t i = 0; i < queries.size(); ++i)
    for (size_t j = 0; j < keys.size(); ++j)
      seen[static_cast<int64_t>(i)][static_cast<int64_t>(j)] = visible(mask, queries[i], keys[j]);
  return seen;
}

// attend(q, a ++ b) = merge(attend(q, a), attend(q, b)) = attention, within the bounds.
RC_GTEST_PROP(Kernel, SplittingTheKeysIsMerging, ()) {
  const KernelCase test = *gen::kernel_case().as("case");
  const int64_t cut = *gen::between(0, test.slots() - 1).as("cut");
  const parity::Problem p = test.problem();
  const std::vector<int64_t> a(test.order.begin(), test.order.begin() + cut);
  const std::vector<int64_t> b(test.order.begin() + cut, test.order.end());
  Partial whole = attend(test, p, test.order, b);
  if (cut > 0)
    whole = merge(attend(test, p, test.order, a), whole);
  RC_ASSERT(forward_beyond(test, p, whole, 2) == "");
}

// A block of which no query sees a key is the identity, bit for bit.
RC_GTEST_PROP(Kernel, AnEmptyBlockIsTheIdentity, ()) {
  KernelCase test = *gen::kernel_case().as("case");
  const parity::Problem p = test.problem();
  test.mask = {Causal{}, test.slots()};
  const int64_t cut = *gen::between(0, test.slots() - 1).as("cut");
  std::vector<int64_t> early, late;
  for (const int64_t slot : test.order)
    (slot < cut ? early : late).push_back(slot);
  const bool pads = early.empty() || *gen::flag().as("keys are pads");
  if (pads)
    test.mask.length = 0;
  const std::vector<int64_t>& queries = pads ? late : early;
  const Partial part = attend(test, p, queries, late);
  RC_ASSERT(difference(part, Partial::identity(part.out.sizes(), p.q.options())) == "");
  RC_ASSERT(part.out.size(3) == test.dim_v);
}

// With Q = 0 and V one-hot by key, O times the number of visible keys is the mask itself.
RC_GTEST_PROP(Kernel, TheMaskIsThePredicate, ()) {
  KernelCase test = *gen::kernel_case().as("case");
  const int64_t n = test.slots();
  test.dim = test.dim_v = n;
  parity::Problem p = test.problem();
  p.q.zero_();
  p.v.copy_(at::eye(n));
  const Partial part = attend(test, p, test.order, test.order);
  const at::Tensor seen = predicate(test.mask, test.order, test.order);
  // One-hot by slot: channel c of V is 1 at slot c, and the predicate's columns follow `order`.
  const at::Tensor expected =
      at::zeros({n, n}, at::kDouble).index_copy_(1, at::tensor(test.order, at::kLong), seen);
  const at::Tensor counts = seen.sum(1, true);
  const at::Tensor found = (part.out.to(at::kDouble) * counts).round();
  RC_ASSERT(difference(found, expected.expand_as(found).contiguous()) == "");
}

// What is kept from one block for the next of the same shape, as a library's plan, serves none with another mask.
RC_GTEST_PROP(Kernel, BlocksOfOneShapeHaveTheirOwnMasks, ()) {
  KernelCase test = *gen::kernel_case().as("case");
  const int64_t n = test.mask.length;
  const parity::Problem p = test.problem();
  for (const int64_t width : {n, (n + 1) / 2, int64_t{1}, n}) {
    test.mask.kind = Window{std::max<int64_t>(1, width)};
    if (test.entry().refuses(test.shape())) continue;
    RC_ASSERT(forward_beyond(test, p, attend(test, p, test.order, test.order), 1) == "");
  }
}

// Census: with Q = 0, exp(LSE) is the number of visible keys; LSE is the natural logarithm.
RC_GTEST_PROP(Kernel, LseCountsTheVisibleKeys, ()) {
  const KernelCase test = *gen::kernel_case().as("case");
  parity::Problem p = test.problem();
  p.q.zero_();
  const Partial part = attend(test, p, test.order, test.order);
  const at::Tensor counts = predicate(test.mask, test.order, test.order).sum(1);
  const at::Tensor found = part.lse.to(at::kDouble).exp();
  RC_ASSERT(difference(found.round(), counts.expand_as(found).contiguous()) == "");
  RC_ASSERT((found - counts).abs().max().item<double>() < 1e-3);
}

// A row that sees nothing has O = 0 and LSE = -inf, others are finite, whatever q holds there.
RC_GTEST_PROP(Kernel, RowsThatSeeNothingAreEmpty, ()) {
  const KernelCase test = *gen::kernel_case().as("case");
  parity::Problem p = test.problem();
  const at::Tensor blind = predicate(test.mask, test.order, test.order).sum(1).eq(0);
  const at::Tensor rows =
      unpicked(blind.view({1, 1, -1, 1}).to(at::kByte), test.order, test.slots());
  p.q.masked_fill_(rows.to(at::kBool), *gen::choice<double>({1e4, -1e4, 0}).as("content"));
  const Partial part = attend(test, p, test.order, test.order);
  RC_ASSERT(part.out.isfinite().all().item<bool>());
  RC_ASSERT(at::equal(part.lse.isneginf(), blind.expand_as(part.lse)));
  RC_ASSERT(part.out.masked_select(blind.unsqueeze(-1)).eq(0).all().item<bool>());
}

// The output is in the accumulation type; the inputs are left as they were.
RC_GTEST_PROP(Kernel, OutputsAreWideAndInputsUntouched, ()) {
  const KernelCase test = *gen::kernel_case().as("case");
  const parity::Problem p = test.problem();
  const QBlock q = query_block(p.q, test.order);
  const KvBlock kv = key_block(p.k, p.v, test.order);
  const at::Tensor q_before = q.q.clone(), kv_before = kv.packed.clone();
  const Partial part = test.forward(q, kv);
  RC_ASSERT((part.out.scalar_type() == accumulation_type(test.dtype)));
  RC_ASSERT((part.lse.scalar_type() == accumulation_type(test.dtype)));
  RC_ASSERT((part.out.sizes() ==
             at::IntArrayRef({test.batch, test.q_heads(), test.slots(), test.dim_v})));
  RC_ASSERT((part.lse.sizes() == at::IntArrayRef({test.batch, test.q_heads(), test.slots()})));
  RC_ASSERT(difference(q.q, q_before) == "");
  RC_ASSERT(difference(kv.packed, kv_before) == "");
}

// Keys and values that a query may not see do not change a bit of its row.
RC_GTEST_PROP(Kernel, InvisibleKeysDoNotMatter, ()) {
  const KernelCase test = *gen::kernel_case().as("case");
  const int64_t key = *gen::between(0, test.slots() - 1).as("key");
  const parity::Problem p = test.problem();
  parity::Problem other = test.problem();
  other.k.select(2, key).mul_(-2).add_(1);
  other.v.select(2, key).mul_(-2).add_(1);
  const Partial a = attend(test, p, test.order, test.order);
  const Partial b = attend(test, other, test.order, test.order);
  for (size_t i = 0; i < test.order.size(); ++i)
    if (!visible(test.mask, test.order[i], key)) {
      const int64_t row = static_cast<int64_t>(i);
      RC_ASSERT(difference(a.out.select(2, row), b.out.select(2, row)) == "");
      RC_ASSERT(difference(a.lse.select(2, row), b.lse.select(2, row)) == "");
    }
}

// Query head h reads key-value head h / group: with V constant in each head and batch entry, O is
// that constant.
RC_GTEST_PROP(Kernel, QueryHeadsReadTheirOwnKeyValueHead, ()) {
  const KernelCase test = *gen::kernel_case().as("case");
  parity::Problem p = test.problem();
  p.q.zero_();
  const at::Tensor names = at::arange(1, test.batch * test.kv_heads + 1, p.v.options())
                               .view({test.batch, test.kv_heads, 1, 1});
  p.v.copy_(names.expand_as(p.v));
  const Partial part = attend(test, p, test.order, test.order);
  for (int64_t h = 0; h < test.q_heads(); ++h) {
    const at::Tensor found = part.out.select(1, h).round();
    const at::Tensor expected = names.select(1, h / test.group).to(found.scalar_type());
    RC_ASSERT(
        (found.eq(expected) | part.lse.select(1, h).isneginf().unsqueeze(-1)).all().item<bool>());
  }
}

// The scale enters once, and only times q k: doubling it is doubling q, bit for bit.
RC_GTEST_PROP(Kernel, ScaleMultipliesTheScores, ()) {
  KernelCase test = *gen::kernel_case().as("case");
  parity::Problem p = test.problem();
  const double factor = *gen::choice<double>({2, 0.5, 4}).as("factor");
  const Partial once = attend(test, {p.q * factor, p.k, p.v, p.d_o}, test.order, test.order);
  test.scale *= factor;
  RC_ASSERT(difference(attend(test, p, test.order, test.order), once) == "");
}

// O is linear in V: times a power of two it scales bit for bit, and LSE stays.
RC_GTEST_PROP(Kernel, OutputScalesWithV, ()) {
  KernelCase test = *gen::kernel_case().as("case");
  if (test.dtype == at::kHalf)
    test.dtype = at::kBFloat16;  // fp16 may underflow
  parity::Problem p = test.problem();
  const double factor = *gen::choice<double>({2, 0.5, 8}).as("factor");
  Partial plain = attend(test, p, test.order, test.order);
  p.v.mul_(factor);
  plain.out.mul_(factor);
  RC_ASSERT(difference(attend(test, p, test.order, test.order), plain) == "");
}

// q laid out [batch, seq, heads, dim] is read like any other, within the bounds.
RC_GTEST_PROP(Kernel, StridesDoNotMatter, ()) {
  const KernelCase test = *gen::kernel_case().as("case");
  const parity::Problem p = test.problem();
  QBlock q = query_block(p.q, test.order);
  q.q = q.q.transpose(1, 2).contiguous().transpose(1, 2);
  const Partial part =
      test.forward(q, key_block(p.k, p.v, test.order));
  RC_ASSERT(forward_beyond(test, p, part, 1) == "");
}

// call_bytes is an upper bound of what a call holds of what it allocates, results included.
RC_GTEST_PROP(Kernel, CallBytesAreAnUpperBound, ()) {
  const KernelCase test = *gen::kernel_case().as("case");
  const parity::Problem p = test.problem();
  const QBlock q = query_block(p.q, test.order);
  const KvBlock kv = key_block(p.k, p.v, test.order);
  const auto forward = std::make_shared<MemoryMeter>(), backward = std::make_shared<MemoryMeter>();
  Partial part;
  {
    const Metered metered(forward);
    part = test.forward(q, kv);
  }
  const Saved saved = saved_of(part, picked(p.d_o, test.order));
  {
    const Metered metered(backward);
    test.backward(q, kv, saved);
  }
  const CallBytes bytes = test.entry().call_bytes(test.shape());
  // Numbers that are tensors; and no more than so many buffers live at a time.
  const int64_t odds =
      (1 << 10) + 32 * rounding(q.q.device().type(), std::max(bytes.forward, bytes.backward));
  RC_ASSERT(forward->total().peak > 0);
  RC_ASSERT(forward->total().peak <= bytes.forward + odds);
  RC_ASSERT(backward->total().peak <= bytes.backward + odds);
}

}  // namespace
}  // namespace ringcheck
