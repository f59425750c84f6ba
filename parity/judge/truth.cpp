// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/truth.h"

#include <ATen/ATen.h>

#include <limits>

#include "cp/layout/positions.h"
#include "parity/case/data_family.h"
#include "parity/judge/exact/exact.h"
#include "parity/judge/oracle.h"
#include "parity/judge/reference_rope.h"
#include "reference/tiles/tiling.h"

namespace ringcheck::parity {

reference::Inputs inputs_of(const Case& test, const Problem& problem, const Outcome& outcome) {
  // Without RoPE nobody judges what a subject shows as its q and k: it attended those it was given.
  const bool rotated =
      test.rope.pairing != Rope::Pairing::kNone && outcome.shows_rotated();
  return {rotated ? outcome.q_rotated : problem.q, rotated ? outcome.k_rotated : problem.k,
          problem.v, problem.d_o, mask_of(test), scale_of(test)};
}

std::vector<EntriesOfInputs> by_entries(const Case& test, const reference::Inputs& whole) {
  if (test.lengths.empty()) return {{entries_of(test).front(), whole}};
  std::vector<EntriesOfInputs> list;
  for (const Entries& some : entries_of(test)) {
    const auto of = [&](const at::Tensor& x) {
      return x.narrow(0, some.first, some.count).narrow(2, 0, some.mask.length);
    };
    list.push_back({some, {of(whole.q), of(whole.k), of(whole.v), of(whole.d_o), some.mask, whole.scale}});
  }
  return list;
}

bool has_pads(const Case& test) {
  if (!test.lengths.empty()) return true;
  const Mask mask = mask_of(test);
  for (const Positions& shard : layout_of(test).queries)
    for (const int64_t position : flatten(shard))
      if (!is_token(mask, position)) return true;
  return false;
}

bool rounds_alike(const Case& test) {
  const auto family = DataFamilies::all().find(test.data);
  return family != DataFamilies::all().end() && !family->second.independent;
}

bool fills_its_range(const Case& test) { return test.data == "routing" && test.dtype == at::kHalf; }

at::Tensor spread_of_lse(const Case& test, int64_t entry, const std::vector<int64_t>& positions) {
  if (!rounds_alike(test)) return at::ones({static_cast<int64_t>(positions.size())}, at::kDouble);
  return keys_seen(test)[entry][0].index_select(0, at::tensor(positions, at::kLong)).clamp_min(1).sqrt();
}

namespace {

using reference::Tensors;
constexpr at::Tensor Tensors::*kFields[] = {&Tensors::o, &Tensors::lse, &Tensors::dq, &Tensors::dk,
                                            &Tensors::dv};

// Of some entries, as long as they are.
reference::Judgement truth_of_entries(const Case& test, const Promise& promise,
                                      const EntriesOfInputs& some, const std::function<void()>& tick) {
  reference::Tiling tiling = reference::tiling_for(some.inputs);
  tiling.tick = tick;
  reference::Judgement truth = reference::judge(some.inputs, promise.contracts(), promise.merged(),
                                                reference_rope(test, promise), tiling);
  const auto positions = flatten({{0, some.entries.mask.length}});
  truth.sigma.lse = truth.sigma.lse * spread_of_lse(test, some.entries.first, positions)
                                          .to(truth.sigma.lse.device());
  return truth;
}

// Room for a whole batch, in which every slot is an empty one: LSE is -inf there, all else 0, and
// exactly so.
reference::Judgement empty_truth(const reference::Inputs& in) {
  const auto like = [](const at::Tensor& x) { return at::zeros(x.sizes(), x.options().dtype(at::kDouble)); };
  const auto tensors = [&] {
    return Tensors{like(in.d_o), like(in.q.select(3, 0)), like(in.q), like(in.k), like(in.v)};
  };
  reference::Judgement truth{tensors(), tensors(), tensors()};
  truth.value.lse.fill_(-std::numeric_limits<double>::infinity());
  return truth;
}

void put(const Tensors& whole, const Entries& some, const Tensors& part) {
  for (const auto field : kFields)
    (whole.*field).narrow(0, some.first, some.count).narrow(2, 0, some.mask.length).copy_(part.*field);
}

}  // namespace

reference::Judgement truth_of(const Case& test, const Promise& promise, const Problem& problem,
                              const Outcome& outcome, const std::function<void()>& tick) {
  const reference::Inputs inputs = inputs_of(test, problem, outcome);
  const std::vector<EntriesOfInputs> list = by_entries(test, inputs);
  if (list.size() == 1) return truth_of_entries(test, promise, list.front(), tick);
  const reference::Judgement whole = empty_truth(inputs);
  for (const EntriesOfInputs& some : list) {
    if (some.entries.mask.length == 0) continue;
    const reference::Judgement part = truth_of_entries(test, promise, some, tick);
    put(whole.value, some.entries, part.value);
    put(whole.bound, some.entries, part.bound);
    put(whole.sigma, some.entries, part.sigma);
  }
  return whole;
}

}  // namespace ringcheck::parity
