// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/search/planted.h"

#include <ATen/ATen.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "cp/context_parallel.h"
#include "parity/contract.h"
#include "parity/oracle.h"

namespace ringcheck::search {
namespace {

using parity::Case;
using parity::RankInput;
using parity::RankOutput;
using parity::Subject;

using Kernel = std::shared_ptr<const AttentionKernel>;

// A kernel that computes as another one does, but for what is overridden.
class Changed : public AttentionKernel {
 public:
  explicit Changed(Kernel kernel) : kernel_(std::move(kernel)) {}
  std::optional<std::string> refuses(const BlockShape& shape) const override {
    return kernel_->refuses(shape);
  }
  int64_t workspace_bytes(const BlockShape& shape) const override {
    return kernel_->workspace_bytes(shape);
  }
  Partial forward(const QBlock& q, const KvBlock& kv, const Mask& mask,
                  double scale) const override {
    return kernel_->forward(q, kv, mask, scale);
  }
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Mask& mask,
                     double scale) const override {
    return kernel_->backward(q, kv, saved, mask, scale);
  }

 protected:
  Kernel kernel_;
};

// The block of the last hop, that of the right neighbour, is left out.
class WithoutLastHop final : public Changed {
 public:
  WithoutLastHop(Kernel kernel, Positions last)
      : Changed(std::move(kernel)), last_(std::move(last)) {}
  Partial forward(const QBlock& q, const KvBlock& kv, const Mask& mask,
                  double scale) const override {
    Partial part = Changed::forward(q, kv, mask, scale);
    if (kv.positions == last_)
      part = {at::zeros_like(part.out), at::full_like(part.lse, -INFINITY)};
    return part;
  }
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Mask& mask,
                     double scale) const override {
    Gradients d = Changed::backward(q, kv, saved, mask, scale);
    if (kv.positions == last_)
      d = {at::zeros_like(d.dq), at::zeros_like(d.dk), at::zeros_like(d.dv)};
    return d;
  }

 private:
  Positions last_;
};

// A window reaches one key too far into the shard of another rank.
class WideAcrossShards final : public Changed {
 public:
  using Changed::Changed;
  Partial forward(const QBlock& q, const KvBlock& kv, const Mask& mask,
                  double scale) const override {
    return Changed::forward(q, kv, widened(q, kv, mask), scale);
  }
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Mask& mask,
                     double scale) const override {
    return Changed::backward(q, kv, saved, widened(q, kv, mask), scale);
  }

 private:
  static Mask widened(const QBlock& q, const KvBlock& kv, Mask mask) {
    auto* window = std::get_if<Window>(&mask.kind);
    if (window != nullptr && !(q.positions == kv.positions))
      ++window->width;
    return mask;
  }
};

// Query head h reads key-value head h % kv_heads: the heads are put in the order in which the
// right map does that.
class ModuloHeads final : public Changed {
 public:
  using Changed::Changed;
  Partial forward(const QBlock& q, const KvBlock& kv, const Mask& mask,
                  double scale) const override {
    const auto [to, from] = orders(q.q.size(1), kv.shape.heads);
    const Partial part = Changed::forward({heads(q.q, to), q.positions}, kv, mask, scale);
    return {heads(part.out, from), heads(part.lse, from)};
  }
  Gradients backward(const QBlock& q, const KvBlock& kv, const Saved& saved, const Mask& mask,
                     double scale) const override {
    const auto [to, from] = orders(q.q.size(1), kv.shape.heads);
    const Saved moved{heads(saved.o, to), heads(saved.lse, to), heads(saved.d, to),
                      heads(saved.d_o, to)};
    Gradients d = Changed::backward({heads(q.q, to), q.positions}, kv, moved, mask, scale);
    return {heads(d.dq, from), d.dk, d.dv};
  }

 private:
  static at::Tensor heads(const at::Tensor& x, const at::Tensor& order) {
    return x.index_select(1, order.to(x.device()));
  }
  // There and back.
  static std::pair<at::Tensor, at::Tensor> orders(int64_t q_heads, int64_t kv_heads) {
    const at::Tensor to = at::arange(q_heads).view({-1, kv_heads}).t().flatten();
    return {to, to.argsort()};
  }
};

// O is off by a little, in units of the rounding of sums: the more, the wider the heads, the longer
// the sequence and the more ranks there are. Results in 16 bits never show it.
class GrowingError final : public Changed {
 public:
  GrowingError(Kernel kernel, const Case& test) : Changed(std::move(kernel)) {
    const double size = static_cast<double>(test.dim_v * test.seq * test.world) / (32.0 * 72 * 8);
    factor_ = 1 + 150 * parity::contract_of(test).u_a * size;
  }
  Partial forward(const QBlock& q, const KvBlock& kv, const Mask& mask,
                  double scale) const override {
    const Partial part = Changed::forward(q, kv, mask, scale);
    return {part.out * factor_, part.lse};
  }

 private:
  double factor_ = 1;
};

using Change = std::function<Kernel(Kernel, const Communicator&, const Case&)>;

Subject with_kernel(const Change& change) {
  return [change](Communicator& comm, const Case& test, const RankInput& input) {
    auto parts = parity::options_of(test);
    parts.plan.kernel = change(parts.plan.kernel, comm, test);
    return parity::context_parallel_with(parts, comm, test, input);
  };
}

Kernel skip_last_hop(Kernel kernel, const Communicator& comm, const Case& test) {
  if (test.world % 2 == 0 || test.world == 1)
    return kernel;
  return std::make_shared<WithoutLastHop>(kernel, parity::layout_of(test).at(comm.right()));
}

// The last rank stops sending after its first message.
class Silent final : public Communicator {
 public:
  explicit Silent(Communicator& comm)
      : Communicator(comm.group(), comm.shared_ledger(), comm.deadline()), comm_(comm) {}
  Pending transfer(std::vector<Message> sends, std::vector<Message> receives,
                   Label label) override {
    if (transfers_++ > 0 && rank() == size() - 1)
      sends.clear();
    return comm_.transfer(std::move(sends), std::move(receives), label);
  }
  void finish() override { comm_.finish(); }
  std::unique_ptr<Communicator> over(Group group) override { return comm_.over(std::move(group)); }

 private:
  Communicator& comm_;
  int transfers_ = 0;
};

RankOutput go_silent(Communicator& comm, const Case& test, const RankInput& input) {
  if (test.world < 3)
    return parity::context_parallel(comm, test, input);
  Silent silent(comm);
  return parity::context_parallel(silent, test, input);
}

// The second rank never comes back from anywhere.
RankOutput run_away(Communicator& comm, const Case& test, const RankInput& input) {
  while (test.world > 1 && comm.rank() == 1)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return parity::context_parallel(comm, test, input);
}

void spoil(RankOutput& output) { output.dv.mul_(1.5); }

// Wrong in two of three runs, whatever the case.
Subject fail_sometimes() {
  return [runs = std::make_shared<std::atomic<int>>(0)](Communicator& comm, const Case& test,
                                                        const RankInput& input) {
    RankOutput output = parity::context_parallel(comm, test, input);
    if (comm.rank() == 0 && (*runs)++ % 3 != 2)
      spoil(output);
    return output;
  };
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

std::map<std::string, Planted> planted() {
  const auto wide = [](Kernel kernel, const Communicator&, const Case&) -> Kernel {
    return std::make_shared<WideAcrossShards>(kernel);
  };
  const auto modulo = [](Kernel kernel, const Communicator&, const Case&) -> Kernel {
    return std::make_shared<ModuloHeads>(kernel);
  };
  const auto growing = [](Kernel kernel, const Communicator&, const Case& test) -> Kernel {
    return std::make_shared<GrowingError>(kernel, test);
  };
  return {
      {"skips-last-hop",
       {"in odd worlds the last block is not attended", with_kernel(skip_last_hop)}},
      {"wide-window", {"windows are one too wide between shards", with_kernel(wide)}},
      {"modulo-heads", {"query head h reads key-value head h % kv_heads", with_kernel(modulo)}},
      {"growing-error", {"O is off by a little more in larger cases", with_kernel(growing)}},
      {"goes-silent",
       {"from three ranks on, the last one sends its first message only", go_silent}},
      {"runs-away", {"the second rank never comes back, nor waits", run_away}},
      {"fails-sometimes", {"dV is wrong in two of three runs", fail_sometimes()}},
      {"aborts-when-small",
       {"dV is wrong, and below 8 tokens the process dies", abort_when_small}}};
}

}  // namespace ringcheck::search
