// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "reference/attention.h"
#include "reference/errors/contract.h"
#include "reference/errors/error_model.h"
#include "reference/errors/estimate.h"
#include "reference/tiles/group.h"
#include "reference/tiles/key_runs.h"
#include "reference/rope.h"
#include "reference/tiles/tiles.h"
#include "reference/tiles/turn.h"

namespace ringcheck::reference {

// The truth and how far a correct implementation may be from it, element by element.
struct Judgement {
  Tensors value;
  Tensors bound;  // B: the worst case to first order (Higham, Accuracy and Stability of Numerical
                  // Algorithms, chapters 3 and 4); an error above it proves a violation
  Tensors sigma;  // the root mean square error if roundings are independent, which they need not be
                  // (the model of Higham and Mary 2019)
};

// Some queries, whose O, LSE and dQ are judged, and some keys, whose dK and dV are: where all would
// take too long. The sums over the keys of a query are complete. dK and dV sum over all queries and
// need O and LSE of each: those that the implementation returned are assumed to be right, which the
// judgement of the sampled queries supports.
struct Sample {
  std::vector<int64_t> queries, keys;  // positions, increasing; no keys: no dK and dV
  at::Tensor o, lse;                   // of the implementation, in the shapes of the problem
};

// Evaluates attention and, for an implementation with these contracts that merges so many
// `partials`, the worst-case bound B and the predicted error sigma of every element
// (docs/numerics.md gives each formula). `rope`, where it rotates, is undone on dQ and dK with
// the bounds carried through, and rope.u_angle is the implementation's; inputs.q and inputs.k are
// the rotated tensors. float64 on the device
// of the inputs; throws what attention() throws.
Judgement judge(const Inputs& inputs, const Contracts& contracts, Partials partials, const Rope& rope,
                const Tiling& tiling = {});

// The same a run of (batch, kv head) pairs at a time, on any device and in several threads, so that
// no more than a run needs be in memory.
class Judge {
 public:
  Judge(Inputs inputs, const Contracts& contracts, Partials partials, const Rope& rope,
        Tiling tiling, std::optional<Sample> sample = {});

  std::vector<Range> runs() const { return runs_of_pairs(inputs_, tiling_); }
  const Tiling& tiling() const { return tiling_; }

  // [pairs, shared, queries, dim], LSE without dim, and [pairs, keys, dim].
  Judgement operator()(Range pairs, at::Device device) const;

 private:
  Judgement everything(Range pairs, at::Device device) const;
  Judgement of_sampled_queries(Range pairs, at::Device device) const;
  Judgement of_sampled_keys(Range pairs, at::Device device) const;
  Judgement finished(Estimate estimate, const Tiles& tiles, const Slots& slots) const;

  Inputs inputs_;
  ErrorModels models_;
  Rope rope_;
  Tiling tiling_;
  std::optional<Sample> sample_;
  KeyRuns runs_;
  Turns turns_;  // undefined where nothing rotates
  at::Tensor angle_errors_;
};

}  // namespace ringcheck::reference
