// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// A judgement of some queries and some keys is the judgement of all, at those.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "parity/judge/devices/on_devices.h"
#include "parity/judge/devices/one_thread.h"
#include "property_tests/cp/rotation/emulated_ring.h"
#include "property_tests/reference/reference_problems.h"
#include "reference/errors/bounds.h"

namespace ringcheck::reference_testing {
namespace {

using namespace reference;

std::vector<int64_t> drawn_slots(int64_t seq) {
  std::vector<int64_t> slots = *rc::gen::container<std::vector<int64_t>>(
      static_cast<size_t>(*rc::gen::inRange<int64_t>(1, 12)), rc::gen::inRange<int64_t>(0, seq));
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  return slots;
}

Sample sample_of(const Tensors& found, std::vector<int64_t> queries, std::vector<int64_t> keys) {
  return {std::move(queries), std::move(keys), found.o, found.lse};
}

// All runs of pairs put together.
Judgement joined(const Judge& judged, const Inputs& in, const Sample& sample) {
  std::vector<Judgement> parts;
  for (const Range run : judged.runs())
    parts.push_back(judged(run, at::kCPU));
  Judgement all;
  for (const Field field : {&Tensors::o, &Tensors::lse, &Tensors::dq, &Tensors::dk, &Tensors::dv})
    for (Tensors Judgement::*what : {&Judgement::value, &Judgement::bound, &Judgement::sigma}) {
      std::vector<at::Tensor> list;
      for (const Judgement& part : parts)
        list.push_back(part.*what.*field);
      const bool of_key = field == &Tensors::dk || field == &Tensors::dv;
      const int64_t slots = static_cast<int64_t>((of_key ? sample.keys : sample.queries).size());
      std::vector<int64_t> sizes{in.q.size(0), of_key ? in.k.size(1) : in.q.size(1), slots};
      if (field != &Tensors::lse)
        sizes.push_back(list[0].size(-1));
      all.*what.*field = at::cat(list).view(sizes);
    }
  return all;
}

// Of a judgement or of results, the sampled slots.
Tensors at_sample(const Tensors& all, const Sample& sample) {
  const at::Tensor queries = at::tensor(sample.queries, at::kLong);
  const at::Tensor keys = at::tensor(sample.keys, at::kLong);
  return {all.o.index_select(2, queries), all.lse.index_select(2, queries),
          all.dq.index_select(2, queries), all.dk.index_select(2, keys),
          all.dv.index_select(2, keys)};
}

Rope rotating(bool rotates) {
  Rope rope;
  if (rotates)
    rope.pairing = Rope::Pairing::kHalf;
  return rope;
}

// With the true O and LSE given, every value is that of the full judgement to rounding, and so are
// bound and sigma of O, LSE and dQ. What dK and dV are allowed is no more than without them given,
// but for the rounding of e^(s - lse), which is that of e^(s - max) in formula (2).
RC_GTEST_PROP(Sample, IsTheFullJudgementAtItsSlots, ()) {
  const Drawn problem = *problems();
  const Inputs in = problem.inputs();
  const Rope rope = rotating(problem.shape.dim % 2 == 0 && *rc::gen::arbitrary<bool>());
  const Judgement full = judge(in, Contract{}, 3, rope);
  const Sample sample = sample_of(full.value, drawn_slots(problem.shape.seq),
                                  drawn_slots(problem.shape.seq));
  const Tiling tiling{.rows = *rc::gen::inRange<int64_t>(1, 45),
                      .columns = *rc::gen::inRange<int64_t>(1, 45)};
  const Judgement some = joined(Judge(in, Contract{}, 3, rope, tiling, sample), in, sample);

  const Judgement exact = judge(in, float64_contract(), 3, rope);
  const Tensors value = at_sample(full.value, sample), bound = at_sample(full.bound, sample);
  RC_ASSERT(excess(some.value, value, at_sample(exact.bound, sample)) == "");
  const Tensors sigma = at_sample(full.sigma, sample);
  for (const auto& [name, field] : kFields) {
    RC_LOG() << name;
    if (field == &Tensors::dk || field == &Tensors::dv) {
      RC_ASSERT((some.bound.*field <= 1.5 * (bound.*field)).all().item<bool>());
      RC_ASSERT(((some.bound.*field > 0) == (bound.*field > 0)).all().item<bool>());
      RC_ASSERT((some.sigma.*field <= 1.5 * (sigma.*field)).all().item<bool>());
      continue;
    }
    RC_ASSERT(at::allclose(some.bound.*field, bound.*field, 1e-6, 1e-300));
    RC_ASSERT(at::allclose(some.sigma.*field, sigma.*field, 1e-6, 1e-300));
  }
}

// Runs of pairs that were judged on several devices are those of one.
RC_GTEST_PROP(Judge, DevicesDoNotMatter, ()) {
  Drawn problem = *problems();
  problem.shape.batch = 3;
  const Inputs in = problem.inputs();
  const Judge judged(in, Contract{}, 2, Rope{}, {.together = 1});
  const std::vector<Range> runs = judged.runs();
  RC_ASSERT(static_cast<int64_t>(runs.size()) == 3 * problem.shape.kv_heads);
  std::vector<Tensors> sigmas(runs.size());
  parity::on_devices({at::kCPU, at::kCPU, at::kCPU}, static_cast<int64_t>(runs.size()),
                     [&](int64_t i, at::Device device) {
                       sigmas[i] = judged(runs[i], device).sigma;
                     });
  const Tensors together = ungrouped(sigmas, in);
  const parity::OneThread as_there;
  const Judgement alone = judge(in, Contract{}, 2, Rope{}, {.together = 1});
  for (const auto& [name, field] : kFields) {
    RC_LOG() << name;
    RC_ASSERT(same_bits(together.*field, alone.sigma.*field));
  }
}

constexpr Shape kShape{.batch = 1, .q_heads = 4, .kv_heads = 2, .seq = 96, .dim = 32, .dim_v = 16};

std::vector<Arithmetic> arithmetics() {
  return {{"bf16", at::kBFloat16, at::kFloat, true, false},
          {"fp16", at::kHalf, at::kFloat, true, false},
          {"bf16_partials", at::kBFloat16, at::kFloat, true, true},
          {"fp32", at::kFloat, at::kFloat, false, false},
          {"fp64", at::kDouble, at::kDouble, false, false}};
}

std::vector<int64_t> every(int64_t step, int64_t first) {
  std::vector<int64_t> slots;
  for (int64_t slot = first; slot < kShape.seq; slot += step)
    slots.push_back(slot);
  return slots;
}

class Given : public testing::TestWithParam<Arithmetic> {};

// An implementation that is right is right given its own O and LSE, whatever the data and the mask.
TEST_P(Given, CorrectRingStaysWithinBounds) {
  for (const Family family : kFamilies)
    for (const auto& [name, mask] : masks(kShape.seq)) {
      const Inputs in = draw(kShape, mask, 5, family, GetParam().storage);
      const Tensors found = emulated_ring(in, GetParam(), 4);
      const Sample sample = sample_of(found, every(5, 2), every(4, 1));
      const Judgement some =
          joined(Judge(in, GetParam().contract(), 4, Rope{}, {}, sample), in, sample);
      const Tensors seen = at_sample(found, sample);
      EXPECT_EQ(excess(seen, some.value, some.bound, 1.001), "") << name_of(family) << " " << name;
      EXPECT_EQ(excess(seen, some.value, some.sigma, 8), "") << name_of(family) << " " << name;
    }
}

// A sampled slot of any tensor that is 20 % off is found. An O or LSE that is off where it was not
// sampled is found through dK and dV only if these are not computed from it.
TEST_P(Given, WrongSlotsAreFound) {
  const Inputs in = draw(kShape, {Causal{}, kShape.seq}, 5, Family::kSpread3, GetParam().storage);
  const Tensors found = emulated_ring(in, GetParam(), 4);
  for (const auto& [name, field] : kFields) {
    Tensors wrong = found;
    wrong.*field = (found.*field).clone();
    (wrong.*field).select(2, 42).mul_(1.2);
    const Sample sample = sample_of(wrong, every(10, 2), every(10, 2));
    const Judgement some =
        joined(Judge(in, GetParam().contract(), 4, Rope{}, {}, sample), in, sample);
    const Tensors seen = at_sample(wrong, sample);
    EXPECT_NE(excess(seen, some.value, some.sigma, 8).find(name), std::string::npos) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Given, testing::ValuesIn(arithmetics()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ringcheck::reference_testing
