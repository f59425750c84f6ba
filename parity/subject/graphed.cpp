// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/graphed.h"

#include <ATen/ATen.h>

#include "cp/attention/graphed.h"
#include "parity/subject/ours.h"

namespace ringcheck::parity {
namespace {

RankOutput replayed(Communicator& comm, const Case& test, const RankInput& input) {
  const Problem given = input.local.to(comm.device(), true);
  const auto other = [](const at::Tensor& x) { return x.flip(1).contiguous(); };  // the heads
  const Problem held{other(given.q), other(given.k), other(given.v), other(given.d_o)};
  ContextParallel attention(comm, options_of(test));
  Graphed graphs(attention, held.q, held.k, held.v, held.d_o);
  const auto replay = [&] {
    graphs.forward();
    graphs.backward();
    comm.finish();
  };
  replay();
  held.q.copy_(given.q);
  held.k.copy_(given.k);
  held.v.copy_(given.v);
  held.d_o.copy_(given.d_o);
  replay();
  const ContextParallel::Context& context = graphs.context();
  const Gradients& gradients = graphs.gradients();
  return {context.o.clone(), context.lse.clone(), gradients.dq.clone(), gradients.dk.clone(),
          gradients.dv.clone(), {}, {}, {}};
}

}  // namespace

SharedSubject graphed() {
  return ours_with(replayed, [](Promise& promise) {
    promise.counts.clear();  // a replay passes by whoever counts
    promise.by_strategy = promise.separate_passes = promise.autograd = promise.any_layout = false;
  });
}

}  // namespace ringcheck::parity
