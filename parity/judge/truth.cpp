// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/truth.h"

#include <ATen/ATen.h>

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

bool rounds_alike(const Case& test) {
  const auto family = DataFamilies::all().find(test.data);
  return family != DataFamilies::all().end() && !family->second.independent;
}

bool fills_its_range(const Case& test) { return test.data == "routing" && test.dtype == at::kHalf; }

at::Tensor spread_of_lse(const Case& test, const std::vector<int64_t>& positions) {
  if (!rounds_alike(test)) return at::ones({static_cast<int64_t>(positions.size())}, at::kDouble);
  return keys_seen(test).index_select(0, at::tensor(positions, at::kLong)).clamp_min(1).sqrt();
}

reference::Judgement truth_of(const Case& test, const Promise& promise, const Problem& problem,
                              const Outcome& outcome, const std::function<void()>& tick) {
  const reference::Inputs inputs = inputs_of(test, problem, outcome);
  reference::Tiling tiling = reference::tiling_for(inputs);
  tiling.tick = tick;
  reference::Judgement truth = reference::judge(inputs, promise.contracts(), promise.partials,
                                                reference_rope(test, promise), tiling);
  truth.sigma.lse =
      truth.sigma.lse * spread_of_lse(test, flatten({{0, test.seq}})).to(truth.sigma.lse.device());
  return truth;
}

}  // namespace ringcheck::parity
