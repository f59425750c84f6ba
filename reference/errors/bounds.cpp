// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/errors/bounds.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <algorithm>
#include <utility>

#include "reference/errors/estimate.h"
#include "reference/errors/evaluate.h"
#include "reference/tiles/strip_view.h"
#include "reference/tiles/tiles.h"

namespace ringcheck::reference {
namespace {

using Field = at::Tensor Tensors::*;

// A gradient turned back, its error with it: every element is cos a + sin b or -sin a + cos b, by an
// angle that may be off.
void turn_back(Estimate& e, Field field, const Turns& turns, const at::Tensor& angle_error,
               Rope::Pairing pairing, double u_a) {
  const auto mix = [&](const at::Tensor& x, const at::Tensor& straight, const at::Tensor& from_b,
                       const at::Tensor& from_a) {
    return mix_pairs(x, pairing, straight, from_b, from_a);
  };
  const auto& [cos, sin] = turns;
  const at::Tensor turning = angle_error + 4 * u_a;
  const at::Tensor variance = (angle_error.square() + 16 * u_a * u_a) / 3;
  const at::Tensor rotated = e.value.*field;
  const at::Tensor cos2 = cos.square(), sin2 = sin.square();
  e.value.*field = mix(rotated, cos, sin, -sin);
  e.bound.*field = mix(e.bound.*field, cos.abs(), sin.abs(), sin.abs())
                       .add_(mix(rotated.abs(), turning, turning, turning));
  e.variance.*field = mix(e.variance.*field, cos2, sin2, sin2)
                          .add_(mix(rotated.square(), variance, variance, variance));
}

// The variance becomes sigma.
void store(Estimate& e, Field field, const Tiles& mask_tiles, const ErrorModels& models) {
  const bool of_key = field == &Tensors::dk || field == &Tensors::dv;
  const at::Tensor& seen = of_key ? mask_tiles.queries : mask_tiles.keys;
  StoredFormula formula;
  formula.contract = models.backward.contract;
  formula.rounded = field != &Tensors::o && field != &Tensors::lse;
  formula.implementations = models.forward.contract.u_a == 0x1p-53 ? 2 : 1;  // float64, as the truth
  formula.columns = field == &Tensors::lse ? 1 : (e.value.*field).size(-1);
  formula.slots = seen.numel();
  formula.seen = elements(seen);
  formula.value = elements(e.value.*field);
  formula.bound = writable(e.bound.*field);
  formula.sigma = writable(e.variance.*field);
  evaluate(formula, (e.value.*field).numel() / formula.columns, seen.device());
}

at::Tensor indexes(const std::vector<int64_t>& slots) { return at::tensor(slots, at::kLong); }

ErrorModel model_of(const Contract& contract, int of_row, int of_key, const Inputs& inputs) {
  return {contract, static_cast<double>(of_row), static_cast<double>(of_key), static_cast<double>(inputs.q.size(-1)),
          static_cast<double>(inputs.v.size(-1))};
}

at::Tensor at_slots(const at::Tensor& all, const at::Tensor& slots, at::Device device) {
  return (slots.defined() ? all.index_select(0, slots) : all).to(device);
}

// Sampled tiles are narrow on one side: they get as many elements as others, and their rows and columns no more
// of them for their channels.
Tiling widened(const Tiling& tiling, const Inputs& inputs, int64_t rows, int64_t columns) {
  Tiling wide = tiling;
  const int64_t elements = tiling.rows * tiling.columns;
  const int64_t channels = std::max<int64_t>({1, inputs.q.size(3), inputs.v.size(3)});
  wide.rows = std::max(tiling.rows, elements / std::max(channels, columns));
  wide.columns = std::max(tiling.columns, elements / std::max(channels, rows));
  return wide;
}

// Where queries see few keys, strips as short as leave half of a tile visible, and no shorter than
// a quarter: on the CPU the rest of a tile costs as much. Four such tiles are taken together.
Tiling shortened(const Tiling& tiling, const KeyRuns& runs) {
  int64_t most = 0;
  for (int64_t q = 0; q < runs.queries(); ++q)
    most = std::max<int64_t>(most, runs.end[q] - runs.begin[q]);
  Tiling fitting = tiling;
  fitting.rows = std::clamp(most, (tiling.rows + 3) / 4, tiling.rows);
  return fitting;
}

}  // namespace

Judge::Judge(Inputs inputs, const Contracts& contracts, Partials partials, const Rope& rope,
             Tiling tiling, std::optional<Sample> sample)
    : inputs_(std::move(inputs)),
      models_(model_of(contracts.forward, partials.of_o, partials.of_dkv, inputs_),
              model_of(contracts.backward, partials.of_dq, partials.of_dkv, inputs_)),
      rope_(rope),
      tiling_(std::move(tiling)),
      sample_(std::move(sample)) {
  check(inputs_);
  runs_ = key_runs(inputs_.mask);
  if (inputs_.q.is_cpu())
    tiling_ = shortened(tiling_, runs_);
  if (rope.pairing == Rope::Pairing::kNone)
    return;
  turns_ = turns(inputs_.mask, rope, inputs_.q.size(3), at::kCPU);
  angle_errors_ = angle_errors(inputs_.mask, rope, inputs_.q.size(3), at::kCPU);
}

Judgement Judge::operator()(Range pairs, at::Device device) const {
  const at::AutoDispatchBelowADInplaceOrView values_only;
  if (!sample_)
    return everything(pairs, device);
  Judgement all = of_sampled_queries(pairs, device);
  if (sample_->keys.empty())
    return all;
  const Judgement keys = of_sampled_keys(pairs, device);
  for (const Field field : {&Tensors::dk, &Tensors::dv}) {
    all.value.*field = keys.value.*field;
    all.bound.*field = keys.bound.*field;
    all.sigma.*field = keys.sigma.*field;
  }
  return all;
}

Judgement Judge::everything(Range pairs, at::Device device) const {
  const Tiles cut = tiles(runs_, tiling_, device);
  const Group group = grouped(inputs_, pairs, device);
  Estimate e = estimate(attend(group, cut, tiling_.tick), group, cut, models_, tiling_.tick);
  return finished(std::move(e), cut, {});
}

Judgement Judge::of_sampled_queries(Range pairs, at::Device device) const {
  const std::vector<int64_t>& queries = sample_->queries;
  const Tiling wide = widened(tiling_, inputs_, static_cast<int64_t>(queries.size()), runs_.keys);
  const Tiles cut = tiles(of_queries(runs_, queries), wide, device);
  const Slots slots{.queries = indexes(queries), .keys = {}};
  const Group group = grouped(inputs_, pairs, device, slots);
  Estimate e = estimate(attend(group, cut, tiling_.tick), group, cut, models_, tiling_.tick);
  for (Tensors* t : {&e.value, &e.bound, &e.variance})
    t->dk = t->dv = at::Tensor();  // sums over the sampled queries only
  return finished(std::move(e), cut, slots);
}

Judgement Judge::of_sampled_keys(Range pairs, at::Device device) const {
  const std::vector<int64_t>& keys = sample_->keys;
  const Tiling wide = widened(tiling_, inputs_, runs_.queries(), static_cast<int64_t>(keys.size()));
  Tiles cut = tiles(of_keys(runs_, keys), wide, device);
  cut.keys = keys_of_queries(runs_, device);
  const Slots slots{.queries = {}, .keys = indexes(keys)};
  const auto given = [&](const at::Tensor& x) {
    return rows_of_pairs(x, inputs_, pairs, {}).to(device).to(at::kDouble);
  };
  Estimate e = estimate_from(given(sample_->o), given(sample_->lse),
                             grouped(inputs_, pairs, device, slots), cut, models_, tiling_.tick);
  return finished(std::move(e), cut, slots);
}

// The rotation undone, results rounded, and variances turned into sigma.
Judgement Judge::finished(Estimate e, const Tiles& cut, const Slots& slots) const {
  for (const auto& [field, kept] : {std::pair{&Tensors::o, slots.queries},
                                    {&Tensors::lse, slots.queries},
                                    {&Tensors::dq, slots.queries},
                                    {&Tensors::dk, slots.keys},
                                    {&Tensors::dv, slots.keys}}) {
    if (!(e.value.*field).defined())
      continue;
    if (turns_.cos.defined() && (field == &Tensors::dq || field == &Tensors::dk)) {
      const auto here = [&](const at::Tensor& x) {
        return at_slots(x, kept, (e.value.*field).device());
      };
      turn_back(e, field, {here(turns_.cos), here(turns_.sin)}, here(angle_errors_), rope_.pairing,
                models_.backward.contract.u_a);
    }
    store(e, field, cut, models_);
  }
  return {e.value, e.bound, e.variance};
}

Judgement judge(const Inputs& inputs, const Contracts& contracts, Partials partials, const Rope& rope,
                const Tiling& tiling) {
  const Judge judged(inputs, contracts, partials, rope, tiling);
  std::vector<Tensors> values, bounds, sigmas;
  for (const Range run : judged.runs()) {
    const Judgement part = judged(run, inputs.q.device());
    values.push_back(part.value);
    bounds.push_back(part.bound);
    sigmas.push_back(part.sigma);
  }
  return {ungrouped(values, inputs), ungrouped(bounds, inputs), ungrouped(sigmas, inputs)};
}

}  // namespace ringcheck::reference
