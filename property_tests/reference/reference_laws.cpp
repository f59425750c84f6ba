// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "property_tests/property.h"
#include "property_tests/reference/reference_problems.h"
#include "reference/errors/bounds.h"
#include "reference/rope.h"

namespace ringcheck::reference_testing {
namespace {

using namespace reference;

Tiling drawn_tiling() {
  return {.rows = *rc::gen::inRange<int64_t>(1, 45).as("tile rows"),
          .columns = *rc::gen::inRange<int64_t>(1, 45).as("tile columns")};
}

Rope drawn_rope() {
  Rope rope;
  rope.pairing = *rc::gen::element(Rope::Pairing::kHalf, Rope::Pairing::kInterleaved);
  rope.base = *rc::gen::element(100., 10000., 500000.).as("base");
  rope.scaled = *rc::gen::arbitrary<bool>().as("scaled");
  rope.llama3 = {.factor = 8, .low = 1, .high = 4, .original_length = 8192};
  return rope;
}

// However the score matrix is cut, attention is the textbook's.
RC_GTEST_PROP(Reference, TilesDoNotMatter, ()) {
  const Drawn problem = *problems();
  const Tiling tiling = drawn_tiling();
  const Inputs inputs = problem.inputs();

  const Judgement judged = judge(inputs, float64_contract(), 1, Rope{}, tiling);
  const Tensors naive = naive_attention(inputs);

  RC_ASSERT(excess(judged.value, naive, judged.bound) == "");
  RC_ASSERT(excess(attention(inputs, tiling), judged.value, judged.bound) == "");
}

// However the score matrix is cut, bounds and sigmas are the same to rounding.
RC_GTEST_PROP(Bounds, TilesDoNotMatter, ()) {
  const Inputs inputs = (*problems()).inputs();
  const Judgement cut = judge(inputs, Contract{}, 3, Rope{}, drawn_tiling());
  const Judgement whole = judge(inputs, Contract{}, 3, Rope{});

  for (const auto& [name, field] : kFields) {
    RC_LOG() << name;
    RC_ASSERT(at::allclose(cut.bound.*field, whole.bound.*field, 1e-6, 1e-300));
    RC_ASSERT(at::allclose(cut.sigma.*field, whole.sigma.*field, 1e-6, 1e-300));
  }
}

// What stands in pad slots changes no bit.
RC_GTEST_PROP(Reference, PadSlotsDoNotMatter, ()) {
  const Drawn problem = *problems();
  const Inputs clean = problem.inputs();
  Inputs poisoned = clean;
  const auto poison = *rc::gen::element(std::nan(""), INFINITY, 1e300);
  at::Tensor pads = at::zeros({problem.shape.seq, 1}, at::kBool);
  for (int64_t slot = 0; slot < problem.shape.seq; ++slot)
    pads[slot][0] = !is_token(problem.mask, slot);
  for (at::Tensor* x : {&poisoned.q, &poisoned.k, &poisoned.v, &poisoned.d_o})
    *x = x->masked_fill(pads, poison);

  const Judgement a = judge(clean, Contract{}, 2, Rope{}),
                  b = judge(poisoned, Contract{}, 2, Rope{});
  const Tensors naive = naive_attention(poisoned);

  for (const auto& [name, field] : kFields) {
    RC_LOG() << name;
    RC_ASSERT(same_bits(a.value.*field, b.value.*field));
    RC_ASSERT(same_bits(a.bound.*field, b.bound.*field));
    RC_ASSERT(same_bits(a.sigma.*field, b.sigma.*field));
    RC_ASSERT(!(naive.*field).isnan().any().item<bool>());
  }
}

// A query that sees no key has O = 0, LSE = -inf and dQ = 0, a key that nobody sees dK = dV = 0,
// without any tolerance; and all bounds elsewhere are positive and finite.
RC_GTEST_PROP(Reference, BlindRowsAreExact, ()) {
  const Drawn problem = *problems();
  const Judgement judged = judge(problem.inputs(), Contract{}, 2, Rope{});

  const auto slots = [](const at::Tensor& x) { return x.dim() == 3 ? x.unsqueeze(-1) : x; };
  for (int64_t slot = 0; slot < problem.shape.seq; ++slot) {
    bool sees = false, seen = false;
    for (int64_t other = 0; other < problem.shape.seq; ++other) {
      sees |= visible(problem.mask, slot, other);
      seen |= visible(problem.mask, other, slot);
    }
    for (const auto& [name, field] : kFields) {
      RC_LOG() << name << ", slot " << slot;
      const bool is_key = field == &Tensors::dk || field == &Tensors::dv;
      const bool exact = is_key ? !seen : !sees;
      const at::Tensor value = slots(judged.value.*field).select(2, slot);
      const at::Tensor bound = slots(judged.bound.*field).select(2, slot);
      const at::Tensor sigma = slots(judged.sigma.*field).select(2, slot);
      const at::Tensor holds =
          exact ? (value == (field == &Tensors::lse ? -INFINITY : 0.)) & (bound == 0) & (sigma == 0)
                : value.isfinite() & (sigma > 0) & (sigma <= bound) & bound.isfinite();
      RC_ASSERT(holds.all().item<bool>());
    }
  }
}

// The rows of P sum to 1: the sum of dV over the keys is that of dO over the queries that see.
RC_GTEST_PROP(Conservation, SumOfDvIsSumOfDo, ()) {
  const Drawn problem = *problems();
  const Inputs in = problem.inputs();
  const Judgement judged = judge(in, float64_contract(), 1, Rope{});

  const Shape& s = problem.shape;
  const at::Tensor sees = judged.value.lse.isfinite().unsqueeze(-1);
  const at::Tensor d_o = (in.d_o * sees).view({s.batch, s.kv_heads, -1, s.seq, s.dim_v});
  RC_ASSERT(worst(judged.value.dv.sum(2), d_o.sum({2, 3}), judged.bound.dv.sum(2)) <= 1);
}

// The rows of dS sum to 0. A shift of all keys by a shifts the scores of row i by scale q_i a,
// which softmax ignores: the sum of dK over the keys is 0.
RC_GTEST_PROP(Conservation, SumOfDkIsZero, ()) {
  const Judgement judged = judge((*problems()).inputs(), float64_contract(), 1, Rope{});
  const at::Tensor sum = judged.value.dk.sum(2);
  RC_ASSERT(worst(sum, at::zeros_like(sum), judged.bound.dk.sum(2)) <= 1);
}

// Scores are bilinear: <q, dQ> = <k, dK>.
RC_GTEST_PROP(Conservation, QueriesAndKeysDoTheSameWork, ()) {
  const Inputs in = (*problems()).inputs();
  const Judgement judged = judge(in, float64_contract(), 1, Rope{});
  const at::Tensor bound =
      (in.q.abs() * judged.bound.dq).sum() + (in.k.abs() * judged.bound.dk).sum();
  RC_ASSERT(worst((in.q * judged.value.dq).sum(), (in.k * judged.value.dk).sum(), bound) <= 1);
}

// O is linear in V: <V, dV> = <O, dO>.
RC_GTEST_PROP(Conservation, ValuesAndOutputsDoTheSameWork, ()) {
  const Inputs in = (*problems()).inputs();
  const Judgement judged = judge(in, float64_contract(), 1, Rope{});
  const at::Tensor bound =
      (in.v.abs() * judged.bound.dv).sum() + (in.d_o.abs() * judged.bound.o).sum();
  RC_ASSERT(worst((in.v * judged.value.dv).sum(), (in.d_o * judged.value.o).sum(), bound) <= 1);
}

// The visible pairs of packed documents, from cumulative lengths.
RC_GTEST_PROP(MaskPredicate, DocumentsAreRunsOfCumulativeSlots, ()) {
  const Drawn problem = *packed_problems();
  const Documents* packed = documents(problem.mask);
  const bool causal = std::holds_alternative<DocumentCausal>(problem.mask.kind);
  std::vector<int64_t> begin = {0};
  for (const Document& d : *packed)
    begin.push_back(begin.back() + d.slots);

  for (int64_t q = 0; q < problem.shape.seq; ++q)
    for (int64_t k = 0; k < problem.shape.seq; ++k) {
      bool expected = false;
      for (size_t d = 0; d < packed->size(); ++d) {
        const int64_t end = begin[d] + (*packed)[d].length;
        expected |= begin[d] <= q && q < end && begin[d] <= k && k < (causal ? q + 1 : end);
      }
      RC_ASSERT(visible(problem.mask, q, k) == expected);
    }
}

// The other masks, each as an interval of keys.
RC_GTEST_PROP(MaskPredicate, KeysOfAQueryAreAnInterval, ()) {
  const int64_t seq = *rc::gen::inRange<int64_t>(1, 40).as("seq");
  const int64_t n = *rc::gen::inRange<int64_t>(1, 45).as("window or prefix");
  const auto keys = [&](const Mask& mask, int64_t q) {
    std::vector<int64_t> found;
    for (int64_t k = -3; k < seq + 3; ++k)
      if (visible(mask, q, k))
        found.push_back(k);
    return found;
  };
  const auto interval = [](int64_t begin, int64_t end) {
    std::vector<int64_t> all;
    for (int64_t i = begin; i < end; ++i)
      all.push_back(i);
    return all;
  };
  for (int64_t q = 0; q < seq; ++q) {
    RC_ASSERT(keys({Full{}, seq}, q) == interval(0, seq));
    RC_ASSERT(keys({Causal{}, seq}, q) == interval(0, q + 1));
    RC_ASSERT(keys({Window{n}, seq}, q) == interval(std::max<int64_t>(0, q - n + 1), q + 1));
    RC_ASSERT(keys({Prefix{n}, seq}, q) == interval(0, std::min(seq, std::max(n, q + 1))));
  }
  for (const int64_t nowhere : {int64_t{-1}, seq, seq + 1})
    RC_ASSERT(keys({Full{}, seq}, nowhere).empty());
}

// A rotation turns each channel pair: it keeps norms, and position 0 stays.
RC_GTEST_PROP(RotaryEmbedding, KeepsNormsAndTheFirstPosition, ()) {
  const Inputs in = (*problems()).inputs();
  const Rope rope = drawn_rope();
  const at::Tensor turned = rotate(in.q, in.mask, rope);
  const at::Tensor norm = in.q.square().sum(-1), rounding = norm * (4 * in.q.size(3) * 0x1p-53);
  RC_ASSERT(worst(turned.square().sum(-1), norm, rounding) <= 1);
  RC_ASSERT(turned.select(2, 0).equal(in.q.select(2, 0)));
}

RC_GTEST_PROP(RotaryEmbedding, RotatingBackIsTheInverse, ()) {
  const Inputs in = (*problems()).inputs();
  const Rope rope = drawn_rope();
  const at::Tensor norm = in.q.norm(2, -1, true).expand_as(in.q);
  RC_ASSERT(worst(rotate_back(rotate(in.q, in.mask, rope), in.mask, rope), in.q,
                  norm * (8 * 0x1p-53)) <= 1);
  RC_ASSERT(worst(rotate(rotate_back(in.q, in.mask, rope), in.mask, rope), in.q,
                  norm * (8 * 0x1p-53)) <= 1);
}

// <rotate(x, i), rotate(y, j)> depends on i - j only.
RC_GTEST_PROP(RotaryEmbedding, ProductsDependOnTheDistance, ()) {
  const Rope rope = drawn_rope();
  const int64_t seq = *rc::gen::inRange<int64_t>(2, 40).as("seq"), dim = 8;
  const Mask mask{Full{}, seq};
  const uint64_t seed = *rc::gen::arbitrary<uint32_t>();
  const Inputs in = draw({1, 1, 1, 1, dim, dim}, {Full{}, 1}, seed);

  const at::Tensor x = rotate(in.q.expand({1, 1, seq, dim}), mask, rope)[0][0];
  const at::Tensor y = rotate(in.k.expand({1, 1, seq, dim}), mask, rope)[0][0];
  const at::Tensor products = x.matmul(y.mT());  // [i, j]
  // Angles of up to seq radians have rounding errors of seq 2^-53, twice.
  const at::Tensor bound = in.q.norm() * in.k.norm() * (8. * double(seq) * 0x1p-53);
  for (int64_t i = 1; i < seq; ++i)
    RC_ASSERT(worst(products.slice(0, i).slice(1, i),
                    products.slice(0, 0, seq - i).slice(1, 0, seq - i), bound) <= 1);
}

// Every document begins at position 0: it is turned as if it stood alone.
RC_GTEST_PROP(RotaryEmbedding, DocumentsRestart, ()) {
  const Drawn problem = *packed_problems();
  const Documents* packed = documents(problem.mask);
  const Inputs in = problem.inputs();
  const Rope rope = drawn_rope();
  const at::Tensor turned = rotate(in.q, in.mask, rope);
  int64_t begin = 0;
  for (const Document& document : *packed) {
    const at::Tensor alone =
        rotate(in.q.narrow(2, begin, document.length), {Full{}, document.length}, rope);
    RC_ASSERT(turned.narrow(2, begin, document.length).equal(alone));
    begin += document.slots;
  }
}

}  // namespace
}  // namespace ringcheck::reference_testing
