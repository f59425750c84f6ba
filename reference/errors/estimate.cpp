// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/errors/estimate.h"

#include <ATen/ATen.h>

#include "reference/errors/backward_errors.h"
#include "reference/errors/forward_errors.h"
#include "reference/errors/scores.h"
#include "reference/solve.h"
#include "reference/tiles/strip_view.h"

namespace ringcheck::reference {
namespace {

// Room for what is written strip by strip.
Tensors empty_rows(const Group& group) {
  return {.o = at::zeros_like(group.d_o),
          .lse = at::zeros_like(group.q.select(-1, 0), at::MemoryFormat::Contiguous),
          .dq = at::zeros_like(group.q),
          .dk = {},
          .dv = {}};
}

void add_keys(Estimate& e, const BackwardErrors& backward, const Group& group) {
  const Gradient dk = backward.dk(group.scale), dv = backward.dv();
  e.value.dk = dk.value, e.bound.dk = dk.error.bound, e.variance.dk = dk.error.variance;
  e.value.dv = dv.value, e.bound.dv = dv.error.bound, e.variance.dv = dv.error.variance;
}

}  // namespace

Estimate estimate(const Solution& attended, const Group& group, const Tiles& tiles,
                  const ErrorModels& models, const std::function<void()>& tick) {
  const Keys keys = keys_of(group, tiles);
  Estimate e{{attended.o, attended.lse, at::zeros_like(group.q), {}, {}}, empty_rows(group), empty_rows(group)};
  const Room room = Room::for_largest(tiles, group);
  BackwardErrors backward(models.backward, keys, room);
  const bool differences = models.forward.contract.u_d > 0;
  const at::Tensor largest_v =
      differences ? largest_seen(keys, tiles).unsqueeze(1).expand_as(group.d_o) : at::Tensor();
  for (const Strip& strip : tiles.strips) {
    if (strip.tiles.empty())
      continue;
    StripView view = view_of(strip, group, attended, tiles);
    if (differences)
      view.largest_v = stacked(largest_v, strip.rows).contiguous();
    Scores scores(view, keys, room);
    const ForwardErrors forward = forward_errors(models.forward, view, keys, scores, room);
    const Gradient dq = backward.add_strip(view, forward, scores, tick);
    const auto write = [&](at::Tensor Tensors::*field, const Error& error) {
      unstack(e.bound.*field, strip.rows, error.bound);
      unstack(e.variance.*field, strip.rows, error.variance);
    };
    write(&Tensors::o, forward.o);
    write(&Tensors::lse, forward.lse);
    write(&Tensors::dq, dq.error);
    unstack(e.value.dq, strip.rows, dq.value);
  }
  add_keys(e, backward, group);
  return e;
}

Estimate estimate_from(const at::Tensor& o, const at::Tensor& lse, const Group& group,
                       const Tiles& tiles, const ErrorModels& models,
                       const std::function<void()>& tick) {
  const Solution given = as_attended(group, tiles, o, lse);
  const Keys keys = keys_of(group, tiles);
  const Room room = Room::for_largest(tiles, group);
  BackwardErrors backward(models.backward, keys, room);
  for (const Strip& strip : tiles.strips) {
    if (strip.tiles.empty())
      continue;
    const StripView view = view_of(strip, group, given, tiles);
    Scores scores(view, keys, room);
    backward.add_strip(view, errors_of_given(models.forward, view), scores, tick);
  }
  Estimate e;
  add_keys(e, backward, group);
  return e;
}

}  // namespace ringcheck::reference
