// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/solve.h"

#include <ATen/ATen.h>

#include <limits>

#include "reference/tiles/fast_path.h"

namespace ringcheck::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One strip of queries against the keys it sees.
class StripSolver {
 public:
  StripSolver(const Group& group, const Strip& strip)
      : group_(group), strip_(strip), q_(stacked(group.q, strip.rows)), scaled_q_(q_ * group.scale) {}

  // max = the largest score, sum = the sum of e^(s - max), O = the sum of e^(s - max) v / sum.
  void forward(const Solution& solution, const std::function<void()>& tick) {
    max_ = at::full({q_.size(0), q_.size(1), 1}, -kInfinity, q_.options());
    for (const Tile& tile : strip_.tiles)
      max_ = at::maximum(max_, scores(tile).amax(-1, true));
    max_.masked_fill_(max_ == -kInfinity, 0);

    at::Tensor sum = at::zeros_like(max_), o = at::zeros_like(stacked(group_.d_o, strip_.rows));
    for (const Tile& tile : strip_.tiles) {
      const at::Tensor e = (scores(tile) - max_).exp_();
      sum += e.sum(-1, true);
      o.baddbmm_(e, rows(group_.v, tile.columns));
      if (tick)
        tick();
    }
    divisor_ = without_zeros(sum);
    unstack(solution.o, strip_.rows, o.div_(divisor_));
    unstack(solution.max, strip_.rows, max_);
    unstack(solution.sum, strip_.rows, sum);
    unstack(solution.lse, strip_.rows, max_ + sum.log());
    unstack(solution.delta, strip_.rows, (stacked(group_.d_o, strip_.rows) * o).sum(-1, true));
  }

  // After forward: dV = P^T dO, dS = P * (dO V^T - delta), dQ = scale dS K, dK = scale dS^T Q.
  void backward(const Solution& solution, const at::Tensor& keys,
                const std::function<void()>& tick) const {
    const at::Tensor d_o = stacked(group_.d_o, strip_.rows), delta = stacked(solution.delta, strip_.rows);
    const at::Tensor single = stacked(keys, strip_.rows) == 1;
    const at::Tensor dq = at::zeros_like(q_);
    for (const Tile& tile : strip_.tiles) {
      const at::Tensor p = (scores(tile) - max_).exp_().div_(divisor_);
      const at::Tensor ds = at::bmm(d_o, rows(group_.v, tile.columns).mT()).sub_(delta).mul_(p);
      ds.masked_fill_(single, 0);  // the softmax of a single score is 1, whatever the score
      dq.baddbmm_(ds, rows(group_.k, tile.columns), 1, group_.scale);
      rows(solution.dk, tile.columns).baddbmm_(ds.mT(), q_, 1, group_.scale);
      rows(solution.dv, tile.columns).baddbmm_(p.mT(), d_o);
      if (tick)
        tick();
    }
    unstack(solution.dq, strip_.rows, dq);
  }

 private:
  // [pairs, shared * rows, columns], -inf where invisible. The last tile is remembered.
  const at::Tensor& scores(const Tile& tile) const {
    if (scored_ == &tile)
      return scores_;
    scored_ = &tile;
    scores_ = at::bmm(scaled_q_, rows(group_.k, tile.columns).mT());
    hide(scores_, tile, -kInfinity);
    return scores_;
  }

  static at::Tensor rows(const at::Tensor& x, Range range) {
    return x.narrow(1, range.begin, range.size);
  }
  static at::Tensor without_zeros(const at::Tensor& sum) { return sum.masked_fill(sum == 0, 1); }

  const Group& group_;
  const Strip& strip_;
  const at::Tensor q_, scaled_q_;  // [pairs, shared * rows, dim]
  at::Tensor max_, divisor_;       // [pairs, shared * rows, 1]
  mutable const Tile* scored_ = nullptr;
  mutable at::Tensor scores_;
};

// Room for the results; those of a query that sees no key already stand there.
Solution nothing_attended(const Group& group) {
  const at::Tensor row = at::zeros_like(group.q.select(-1, 0), at::MemoryFormat::Contiguous);
  return {.o = at::zeros_like(group.d_o),
          .max = row.clone(),
          .sum = row.clone(),
          .lse = row - kInfinity,
          .delta = row.clone(),
          .dq = {},
          .dk = {},
          .dv = {}};
}

}  // namespace

Solution solve(const Group& group, const Tiles& tiles, const std::function<void()>& tick) {
  Solution solution = nothing_attended(group);
  solution.dq = at::zeros_like(group.q);
  solution.dk = at::zeros_like(group.k);
  solution.dv = at::zeros_like(group.v);
  const at::Tensor keys = tiles.keys.expand_as(solution.lse);
  for (const Strip& strip : tiles.strips) {
    if (strip.tiles.empty())
      continue;
    StripSolver solver(group, strip);
    solver.forward(solution, tick);
    solver.backward(solution, keys, tick);
  }
  return solution;
}

Solution attend(const Group& group, const Tiles& tiles, const std::function<void()>& tick) {
  const FastPath* path = fast_path_of(group);
  if (path == nullptr)
    return attend_plainly(group, tiles, tick);
  const Solution solution = path->attend(group, tiles);
  if (tick)
    tick();
  return solution;
}

Solution attend_plainly(const Group& group, const Tiles& tiles, const std::function<void()>& tick) {
  const Solution solution = nothing_attended(group);
  for (const Strip& strip : tiles.strips)
    if (!strip.tiles.empty())
      StripSolver(group, strip).forward(solution, tick);
  return solution;
}

Solution as_attended(const Group& group, const Tiles& tiles, const at::Tensor& o, const at::Tensor& lse) {
  Solution solution = nothing_attended(group);
  const at::Tensor sees = tiles.keys.expand_as(solution.lse) > 0;
  solution.o = at::where(sees.unsqueeze(-1), o, 0.);
  solution.max = at::where(sees, lse, 0.);
  solution.sum = sees.to(at::kDouble);
  solution.lse = at::where(sees, lse, solution.lse);
  solution.delta = (group.d_o * solution.o).sum(-1);
  return solution;
}

}  // namespace ringcheck::reference
