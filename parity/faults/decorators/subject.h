// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "parity/faults/decorators/communicator.h"
#include "parity/faults/decorators/kernel.h"
#include "parity/faults/decorators/rotation.h"
#include "parity/subject/ours.h"

namespace ringcheck::parity {

// Our subject with one thing changed on every rank. State of a change lives in what it makes: one
// run of one rank.
using Parts = ContextParallel::Options;
SharedSubject with_parts(std::function<void(Parts&, Communicator&, const Case&)> change);
SharedSubject with_kernel(std::function<AroundKernel(Communicator&, const Case&)> make);
// The kernel is told something else than what the plan says.
SharedSubject with_calls(std::function<void(KernelCall&)> change);
// The same of masks of one kind: oracles run cases with other masks, too.
template <typename Kind>
SharedSubject with_masks(std::function<void(const KernelCall&, Kind&)> change) {
  return with_calls([change](KernelCall& call) {
    if (Kind* kind = std::get_if<Kind>(&call.scores.mask.kind)) change(call, *kind);
  });
}
SharedSubject with_rotation(std::function<Next(Communicator&, const Layout&)> make);
SharedSubject with_gradients(std::function<AroundCarrier(Communicator&)> make);  // the carrier's
using Merging = std::function<Partial(const Partial&, const Partial&)>;  // in accumulation type
SharedSubject with_merge(std::function<Merging(const Case&)> make);
SharedSubject with_transfers(std::function<Transfer(Communicator&)> make);
SharedSubject with_input(std::function<void(Problem& local, Communicator&, const Case&)> change);
SharedSubject with_output(std::function<void(RankOutput&, Communicator&, const Case&)> change,
                          std::function<void(Promise&)> promise = {});

// What all ranks hold of x [batch, heads, slots, dim], in the order of the sequence. Collective;
// counted nowhere.
at::Tensor whole_of(const at::Tensor& x, Communicator& comm, const Case& test);
Problem whole_of(const Problem& local, Communicator& comm, const Case& test);
Problem shard_of(const Problem& whole, const Positions& positions);

// Attention on shards cut by another layout than the one in which the tensors come and go.
RankOutput relaid(const Layout& layout, Communicator& comm, const Case& test,
                  const RankInput& input);

}  // namespace ringcheck::parity
