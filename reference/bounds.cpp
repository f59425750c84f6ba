// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/bounds.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <cmath>

#include "reference/backward_errors.h"
#include "reference/error_model.h"
#include "reference/forward_errors.h"
#include "reference/group.h"
#include "reference/score_errors.h"
#include "reference/solve.h"
#include "reference/strip_view.h"
#include "reference/tiles.h"
#include "reference/turn.h"

namespace ringcheck::reference {
namespace {

// The truth and its errors; those of the gradients without the rounding of stored results.
struct Estimate {
  Tensors value, bound, variance;
};

// Room for what is written strip by strip.
Tensors empty_rows(const Group& group) {
  return {.o = at::zeros_like(group.d_o),
          .lse = at::zeros_like(group.q.select(-1, 0), at::MemoryFormat::Contiguous),
          .dq = at::zeros_like(group.q),
          .dk = {},
          .dv = {}};
}

Estimate estimate(const Group& group, const Tiles& mask_tiles, const ErrorModel& model,
                  const std::function<void()>& tick) {
  const Solution truth = solve(group, mask_tiles, tick);
  const Keys keys = keys_of(group, mask_tiles);
  Tensors bound = empty_rows(group), variance = empty_rows(group);
  BackwardErrors backward(model, keys);
  for (const Strip& strip : mask_tiles.strips) {
    if (strip.tiles.empty())
      continue;
    const StripView view = view_of(strip, group, truth, mask_tiles);
    ScoreErrors scores(model, view, keys);
    const ForwardErrors forward = forward_errors(model, view, keys, scores);
    const Error dq = backward.add_strip(view, forward, scores, tick);
    const auto write = [&](at::Tensor Tensors::*field, const Error& error) {
      unstack(bound.*field, strip.rows, error.bound);
      unstack(variance.*field, strip.rows, error.variance);
    };
    write(&Tensors::o, forward.o);
    write(&Tensors::lse, forward.lse);
    write(&Tensors::dq, dq);
  }
  const Error dk = backward.dk(group.scale, truth.dk);
  const Error dv = backward.dv(truth.dv);
  bound.dk = dk.bound, variance.dk = dk.variance;
  bound.dv = dv.bound, variance.dv = dv.variance;
  return {{truth.o, truth.lse, truth.dq, truth.dk, truth.dv}, bound, variance};
}

// A gradient turned back, its error with it: every element is cos a + sin b or -sin a + cos b.
void turn_back(Estimate& e, at::Tensor Tensors::*field, const Turns& turns, const Rope& rope,
               double u_a) {
  const auto mix = [&](const at::Tensor& x, const at::Tensor& straight, const at::Tensor& from_b,
                       const at::Tensor& from_a) {
    return mix_pairs(x, rope.pairing, straight, from_b, from_a);
  };
  const auto& [cos, sin] = turns;
  const at::Tensor one = at::ones({}, cos.options());
  const at::Tensor rotated = e.value.*field;
  const at::Tensor cos2 = cos.square(), sin2 = sin.square();
  e.value.*field = mix(rotated, cos, sin, -sin);
  e.bound.*field = mix(e.bound.*field, cos.abs(), sin.abs(), sin.abs())
                       .add_(mix(rotated.abs(), one, one, one), 4 * u_a);
  e.variance.*field = mix(e.variance.*field, cos2, sin2, sin2)
                          .add_(mix(rotated.square(), one, one, one), 16 * u_a * u_a / 3);
}

void round_result(Estimate& e, at::Tensor Tensors::*field, const ErrorModel& model) {
  const at::Tensor rounding = model.output_rounding(e.value.*field);
  e.bound.*field += rounding;
  (e.variance.*field).addcmul_(rounding, rounding, 1. / 3);
}

// Rows without keys and keys without rows are exact.
void make_blind_exact(Tensors& errors, const Tiles& mask_tiles) {
  const at::Tensor blind = mask_tiles.keys == 0, unseen = mask_tiles.queries == 0;
  errors.o.masked_fill_(blind.unsqueeze(-1), 0);
  errors.lse.masked_fill_(blind, 0);
  errors.dq.masked_fill_(blind.unsqueeze(-1), 0);
  errors.dk.masked_fill_(unseen.unsqueeze(-1), 0);
  errors.dv.masked_fill_(unseen.unsqueeze(-1), 0);
}

template <class Action>
void for_each_field(Action act) {
  for (const auto field : {&Tensors::o, &Tensors::lse, &Tensors::dq, &Tensors::dk, &Tensors::dv})
    act(field);
}

}  // namespace

Judgement judge(const Inputs& inputs, const Contract& contract, int world, const Rope& rope,
                const Tiling& tiling) {
  const at::AutoDispatchBelowADInplaceOrView values_only;
  const Group all = grouped(inputs);
  const Tiles mask_tiles = tiles(key_runs(inputs.mask), tiling, inputs.q.device());
  const ErrorModel model{contract, static_cast<double>(world),
                         static_cast<double>(inputs.q.size(3)),
                         static_cast<double>(inputs.v.size(3))};
  std::vector<Tensors> values, bounds, variances;
  for (const Range run : runs_of_pairs(all, tiling)) {
    Estimate part = estimate(narrow(all, run), mask_tiles, model, tiling.tick);
    values.push_back(part.value);
    bounds.push_back(part.bound);
    variances.push_back(part.variance);
  }
  Estimate e{ungrouped(values, inputs), ungrouped(bounds, inputs), ungrouped(variances, inputs)};

  if (rope.pairing != Rope::Pairing::kNone) {
    const Turns angles = turns(inputs.mask, rope, inputs.q.size(3), inputs.q.device());
    for (const auto field : {&Tensors::dq, &Tensors::dk})
      turn_back(e, field, angles, rope, contract.u_a);
  }
  for (const auto field : {&Tensors::dq, &Tensors::dk, &Tensors::dv})
    round_result(e, field, model);
  make_blind_exact(e.bound, mask_tiles);
  make_blind_exact(e.variance, mask_tiles);

  // A float64 implementation errs no less than the reference itself.
  const bool as_exact = contract.u_a == 0x1p-53;
  for_each_field([&](auto field) {
    (e.variance.*field).sqrt_().mul_(as_exact ? std::sqrt(2.) : 1.);
    if (as_exact)
      (e.bound.*field).mul_(2);
  });
  return {e.value, e.bound, e.variance};
}

}  // namespace ringcheck::reference
