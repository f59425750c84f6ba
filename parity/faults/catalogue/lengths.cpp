// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Batch entries hold other numbers of tokens than they should.
#include <ATen/ATen.h>

#include <cmath>

#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"

namespace ringcheck::parity {
namespace {

constexpr const char* kPadded = "ring:p2p/headtail/full/P3/b3/lengths:23+36+9/hq4/hkv2/s36/d16/dv24";
// No token sees a pad behind it: only an entry that is cut shows.
constexpr const char* kPaddedCausal =
    "gathered/contiguous/causal/P3/b3/lengths:9+36+23/hq4/hkv2/s36/d16/dv24";

// What comes and goes holds zeros in its pads, as a padded batch does, so that only what tokens see is
// wrong. The tensors are the rank's own; another layout is left alone.
SharedSubject with_lengths(std::function<void(Lengths&)> change) {
  return ours_with([change](Communicator& comm, const Case& test, const RankInput& input) {
    if (input.layout) return context_parallel(comm, test, input);
    const auto fill = [&](const at::Tensor& x, double value) {
      fill_pads(test, input.positions, x, value);
    };
    const Problem& local = input.local;
    for (const at::Tensor& x : {local.q, local.k, local.v, local.d_o}) fill(x, 0);
    Parts parts = options_of(test);
    change(parts.plan.lengths);
    RankOutput output = context_parallel_with(parts, comm, test, input);
    for (const at::Tensor& x : {output.o, output.dq, output.dk, output.dv}) fill(x, 0);
    fill(output.lse, -INFINITY);
    return output;
  });
}

const Named kForward{.tensors = {"o", "lse"}};

const FaultGroup group{"lengths", {
  {"lengths_of_the_first_entry", {
    .operators = {"M32"}, .stands_for = "vllm#48003",
    .wrong = "every batch entry is masked by the length of the first one",
    .site = Site::kKernel, .cases = {kPadded, kPaddedCausal}, .names = kForward,
    .subject = with_lengths([](Lengths& lengths) {
      if (!lengths.empty()) lengths.assign(lengths.size(), lengths.front());
    })}},
  {"longest_entry_masks_all", {
    .operators = {"M32"}, .stands_for = "diffusers#13545",
    .wrong = "the pads of a shorter batch entry are attended, as far as the longest entry goes",
    .site = Site::kKernel, .cases = {kPadded}, .names = kForward,
    .subject = with_lengths([](Lengths& lengths) { lengths.clear(); })}},
}};

}  // namespace
}  // namespace ringcheck::parity
