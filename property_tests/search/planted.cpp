// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/search/planted.h"

#include <ATen/ATen.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "parity/faults/decorators/subject.h"
#include "parity/judge/oracle.h"

namespace ringcheck::search {
namespace {

using parity::Case;
using parity::RankInput;
using parity::RankOutput;
using parity::SharedSubject;

using parity::AroundKernel;
using parity::KernelCall;

// In odd worlds the block of the last hop, that of the right neighbour, is left out.
AroundKernel skip_last_hop(Communicator& comm, const Case& test) {
  if (test.world % 2 == 0 || test.world == 1)
    return {};
  const Positions last = parity::layout_of(test).queries.at(comm.right());
  return {.after_forward =
              [last](const KernelCall& call, Partial& part) {
                if (call.kv.positions == last)
                  part = {at::zeros_like(part.out), at::full_like(part.lse, -INFINITY)};
              },
          .after_backward =
              [last](const KernelCall& call, Gradients& d) {
                if (call.kv.positions == last)
                  d = {at::zeros_like(d.dq), at::zeros_like(d.dk), at::zeros_like(d.dv)};
              }};
}

// A window reaches one key too far into the shard of another rank.
AroundKernel widen_across_shards(Communicator&, const Case&) {
  return {.before = [](KernelCall& call) {
    auto* window = std::get_if<Window>(&call.scores.mask.kind);
    if (window != nullptr && !(call.q.positions == call.kv.positions))
      ++window->width;
  }};
}

at::Tensor heads(const at::Tensor& x, const at::Tensor& order) {
  return x.defined() ? x.index_select(1, order.to(x.device())) : x;
}

// The order in which the right map of heads is that by h % kv_heads.
at::Tensor modulo_order(const KernelCall& call) {
  return at::arange(call.q.q.size(1)).view({-1, call.kv.shape.heads}).t().flatten();
}

// Query head h reads key-value head h % kv_heads: the heads are put in the order in which the
// right map does that, and back.
AroundKernel count_heads_modulo(Communicator&, const Case&) {
  return {.before =
              [](KernelCall& call) {
                const at::Tensor to = modulo_order(call);
                call.q.q = heads(call.q.q, to);
                if (auto& saved = call.saved)
                  *saved = {heads(saved->o, to), heads(saved->lse, to), heads(saved->d, to),
                            heads(saved->d_o, to)};
              },
          .after_forward =
              [](const KernelCall& call, Partial& part) {
                const at::Tensor from = modulo_order(call).argsort();
                part = {heads(part.out, from), heads(part.lse, from)};
              },
          .after_backward =
              [](const KernelCall& call, Gradients& d) {
                d.dq = heads(d.dq, modulo_order(call).argsort());
              }};
}

// O is off by a little, in units of the rounding of sums: the more, the wider the heads, the longer
// the sequence and the more ranks there are. Results in 16 bits never show it.
AroundKernel err_more_when_large(Communicator&, const Case& test) {
  const double size = static_cast<double>(test.dim_v * test.seq * test.world) / (32.0 * 72 * 8);
  const double factor = 1 + 150 * parity::contract_of(test).u_a * size;
  return {.after_forward = [factor](const KernelCall&, Partial& part) {
    part.out = part.out * factor;
  }};
}

// From three ranks on, the last one stops sending after its first message.
parity::Transfer go_silent(Communicator&) {
  return [transfers = 0](Communicator& comm, parity::Posting posting) mutable {
    if (comm.size() >= 3 && comm.rank() == comm.size() - 1 && transfers++ > 0)
      posting.sends.clear();
    return parity::post(comm, std::move(posting));
  };
}

// The second rank never comes back from anywhere.
RankOutput run_away(Communicator& comm, const Case& test, const RankInput& input) {
  while (test.world > 1 && comm.rank() == 1)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return parity::context_parallel(comm, test, input);
}

void spoil(RankOutput& output) { output.dv.mul_(1.5); }

// Wrong in two of three runs, whatever the case.
SharedSubject fail_sometimes() {
  return parity::ours_with([runs = std::make_shared<std::atomic<int>>(0)](Communicator& comm, const Case& test,
                                                        const RankInput& input) {
    RankOutput output = parity::context_parallel(comm, test, input);
    if (comm.rank() == 0 && (*runs)++ % 3 != 2)
      spoil(output);
    return output;
  });
}

// Wrong everywhere; what is small takes the whole process with it.
RankOutput abort_when_small(Communicator& comm, const Case& test, const RankInput& input) {
  if (test.seq < 8)
    std::abort();
  RankOutput output = parity::context_parallel(comm, test, input);
  spoil(output);
  return output;
}

}  // namespace

namespace {

// What a plant takes for itself is no bug that is looked for.
class Unmetered final : public parity::Subject {
 public:
  explicit Unmetered(parity::SharedSubject subject) : subject_(std::move(subject)) {}
  std::optional<std::string> refuses(const parity::Case& test) const override {
    return subject_->refuses(test);
  }
  parity::Promise promise(const parity::Case& test) const override {
    parity::Promise promise = subject_->promise(test);
    promise.counts.erase(parity::Promise::Counts::kMemory);
    return promise;
  }
  parity::RankOutput run(Communicator& comm, const parity::Case& test,
                         const parity::RankInput& input) const override {
    return subject_->run(comm, test, input);
  }

 private:
  parity::SharedSubject subject_;
};

std::map<std::string, Planted> plants() {
  using parity::with_kernel;
  return {
      {"skips-last-hop",
       {"in odd worlds the last block is not attended", with_kernel(skip_last_hop)}},
      {"wide-window",
       {"windows are one too wide between shards", with_kernel(widen_across_shards)}},
      {"modulo-heads",
       {"query head h reads key-value head h % kv_heads", with_kernel(count_heads_modulo)}},
      {"growing-error",
       {"O is off by a little more in larger cases", with_kernel(err_more_when_large)}},
      {"goes-silent",
       {"from three ranks on, the last one sends its first message only",
        parity::with_transfers(go_silent)}},
      {"runs-away", {"the second rank never comes back, nor waits", parity::ours_with(run_away)}},
      {"fails-sometimes", {"dV is wrong in two of three runs", fail_sometimes()}},
      {"aborts-when-small",
       {"dV is wrong, and below 8 tokens the process dies",
        parity::ours_with(abort_when_small)}}};
}

}  // namespace

std::map<std::string, Planted> planted() {
  std::map<std::string, Planted> all = plants();
  for (auto& [name, plant] : all) plant.subject = std::make_shared<Unmetered>(plant.subject);
  return all;
}

}  // namespace ringcheck::search
