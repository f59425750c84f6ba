// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/decorators/subject.h"

#include <ATen/ATen.h>

#include "cp/layout/shard.h"

namespace ringcheck::parity {
namespace {

at::Tensor gathered(const at::Tensor& x, Communicator& comm, const std::vector<Positions>& layout,
                    int64_t length) {
  std::vector<at::Tensor> shards;
  const at::Tensor own = x.contiguous();
  for (int rank = 0; rank < comm.size(); ++rank) shards.push_back(at::empty_like(own));
  comm.all_gather(own, shards, {"gather whole"}).wait();
  return unshard(shards, 2, layout, length);
}

}  // namespace

SharedSubject with_parts(std::function<void(Parts&, Communicator&, const Case&)> change) {
  return ours_with([=](Communicator& comm, const Case& test, const RankInput& input) {
    Parts parts = options_of(test);
    change(parts, comm, test);
    return context_parallel_with(parts, comm, test, input);
  });
}

SharedSubject with_kernel(std::function<AroundKernel(Communicator&, const Case&)> make) {
  return with_parts([=](Parts& parts, Communicator& comm, const Case& test) {
    parts.plan.kernel = with_around(parts.plan.kernel, make(comm, test));
  });
}

SharedSubject with_calls(std::function<void(KernelCall&)> change) {
  return with_kernel([=](Communicator&, const Case&) { return AroundKernel{change}; });
}

SharedSubject with_rotation(std::function<Next(Communicator&, const Layout&)> make) {
  return with_parts([=](Parts& parts, Communicator&, const Case&) {
    parts.plan.rotation_of = with_next(parts.plan.rotation_of, make);
  });
}

SharedSubject with_gradients(std::function<AroundCarrier(Communicator&)> make) {
  return with_parts([=](Parts& parts, Communicator&, const Case&) {
    parts.plan.rotation_of = with_carrier(parts.plan.rotation_of, make);
  });
}

SharedSubject with_merge(std::function<Merging(const Case&)> make) {
  return with_parts([=](Parts& parts, Communicator&, const Case& test) {
    parts.plan.merge = [merging = make(test)](at::ScalarType out, const Partial& a, const Partial& b) {
      Partial sum = merging(a, b);
      sum.out = sum.out.to(out);
      return sum;
    };
  });
}

SharedSubject with_transfers(std::function<Transfer(Communicator&)> make) {
  return ours_with([=](Communicator& comm, const Case& test, const RankInput& input) {
    const auto relay = with_transfer(comm, make(comm));
    return context_parallel(*relay, test, input);
  });
}

SharedSubject with_input(std::function<void(Problem&, Communicator&, const Case&)> change) {
  return ours_with([=](Communicator& comm, const Case& test, const RankInput& input) {
    RankInput changed = input;
    changed.local = input.local.to(comm.device(), true);
    change(changed.local, comm, test);
    return context_parallel(comm, test, changed);
  });
}

SharedSubject with_output(std::function<void(RankOutput&, Communicator&, const Case&)> change,
                          std::function<void(Promise&)> promise) {
  return ours_with([=](Communicator& comm, const Case& test, const RankInput& input) {
    RankOutput output = context_parallel(comm, test, input);
    change(output, comm, test);
    return output;
  }, std::move(promise));
}

at::Tensor whole_of(const at::Tensor& x, Communicator& comm, const Case& test) {
  return gathered(x, comm, layout_of(test).queries, test.seq);
}

Problem whole_of(const Problem& local, Communicator& comm, const Case& test) {
  return {whole_of(local.q, comm, test), whole_of(local.k, comm, test),
          whole_of(local.v, comm, test), whole_of(local.d_o, comm, test)};
}

Problem shard_of(const Problem& whole, const Positions& positions) {
  return {shard(whole.q, 2, positions), shard(whole.k, 2, positions),
          shard(whole.v, 2, positions), shard(whole.d_o, 2, positions)};
}

RankOutput relaid(const Layout& layout, Communicator& comm, const Case& test,
                  const RankInput& input) {
  const Layout here = input.layout ? *input.layout : layout_of(test);
  const int rank = comm.rank();
  const Problem local = input.local.to(comm.device());
  const auto moved = [&](const at::Tensor& x, std::vector<Positions> Layout::*side,
                         const Layout& from, const Layout& to) {
    return x.defined() ? shard(gathered(x, comm, from.*side, test.seq), 2, (to.*side).at(rank)) : x;
  };
  const auto there = [&](const at::Tensor& x, std::vector<Positions> Layout::*side) {
    return moved(x, side, here, layout);
  };
  RankInput other{{there(local.q, &Layout::queries), there(local.k, &Layout::keys),
                   there(local.v, &Layout::keys), there(local.d_o, &Layout::queries)},
                  layout.queries.at(rank), layout};
  other.by_autograd = input.by_autograd;
  RankOutput output = context_parallel_with(options_of(test), comm, test, other);
  for (at::Tensor* x : {&output.o, &output.lse, &output.dq, &output.q_rotated})
    *x = moved(*x, &Layout::queries, layout, here);
  for (at::Tensor* x : {&output.dk, &output.dv, &output.k_rotated})
    *x = moved(*x, &Layout::keys, layout, here);
  return output;
}

}  // namespace ringcheck::parity
