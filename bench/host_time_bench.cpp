// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// What context parallelism costs a rank beside attention, merging and messages: nothing is computed
// and nothing moves, so what is left is our own bookkeeping on the host.
#include <ATen/ATen.h>

#include <ctime>

#include "bench/sweep.h"
#include "cp/attention/context_parallel.h"
#include "cp/layout/balancer.h"
#include "cp/worlds/transport.h"

namespace ringcheck::bench {
namespace {

constexpr int kWorld = 8;
constexpr int64_t kLength = 131072;

// Asks what kernels ask, and hands out results made beforehand.
class NullKernel final : public AttentionKernel {
 public:
  NullKernel(Partial part, Gradients term) : part_(std::move(part)), term_(std::move(term)) {}
  std::optional<std::string> refuses(const BlockShape& shape) const override {
    benchmark::DoNotOptimize(shape.visibility.strips().data());
    return std::nullopt;
  }
  Partial forward(const QBlock&, const KvBlock&, const Scores&,
                  const Visibility& visibility) const override {
    benchmark::DoNotOptimize(visibility.strips().data());
    return part_;
  }
  Gradients backward(const QBlock&, const KvBlock&, const Saved&, const Scores&,
                     const Visibility& visibility) const override {
    benchmark::DoNotOptimize(visibility.strips().data());
    return term_;
  }
  CallBytes call_bytes(const BlockShape&) const override { return {}; }

 private:
  Partial part_;
  Gradients term_;
};

// Every transfer is complete when it is posted, and brings nothing.
class NullTransport final : public Transport {
 public:
  explicit NullTransport(Group group)
      : Transport(std::move(group), std::make_shared<Ledger>(), std::chrono::seconds(1)) {}
  std::unique_ptr<Communicator> over(Group group) override {
    return std::make_unique<NullTransport>(std::move(group));
  }

 protected:
  InFlight post(Posting) override { return {[] {}}; }
};

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Tensors without memory: their sizes are real, work on them is not.
void host_time(benchmark::State& state, const std::string& balancer, int64_t block) {
  Group group;
  for (int rank = 0; rank < kWorld; ++rank) group.world_ranks.push_back(rank);
  group.device = at::kMeta;
  NullTransport comm(group);
  const Mask mask{Causal{}, kLength};
  const Layout layout = layout_of(Balancers::at(balancer), {mask, block}, kWorld);
  const int64_t slots = count(layout.queries[0]);
  const auto zeros = [&](int64_t heads, at::ScalarType dtype) {
    return at::empty({1, heads, slots, 128}, at::TensorOptions(dtype).device(at::kMeta));
  };
  const Partial part{zeros(32, at::kFloat), zeros(32, at::kFloat).select(3, 0)};
  const Gradients term{zeros(32, at::kFloat), zeros(8, at::kFloat), zeros(8, at::kFloat)};
  ContextParallel attention(
      comm, {.strategy = Strategies::at("ring"),
             .plan = {.layout = layout,
                      .scores = {mask, 0.125},
                      .kernel = std::make_shared<NullKernel>(part, term),
                      .arguments = ":p2p",
                      .merge = [](at::ScalarType, const Partial&, const Partial& b) { return b; }},
             .rope = {}});
  const at::Tensor q = zeros(32, at::kBFloat16), kv = zeros(8, at::kBFloat16);
  const auto both_passes = [&] {
    auto context = attention.forward(q, kv, kv);
    benchmark::DoNotOptimize(attention.backward(context, q));
    comm.ledger().restart();
  };
  both_passes();  // what is known of a layout is found out once
  for (auto _ : state) {
    const double begin = thread_seconds();
    both_passes();
    state.SetIterationTime(thread_seconds() - begin);
  }
}

void add(std::vector<Benchmark>& list) {
  const std::string name = "host_time/forward_backward/S131072/P8";
  list.push_back({name, [](benchmark::State& state) { host_time(state, "headtail", 1); }, true});
  list.push_back({name + "/striped[16]",
                  [](benchmark::State& state) { host_time(state, "striped", 16); }, true});
}

const Sweeps::Add registered{"host_time", add};

}  // namespace
}  // namespace ringcheck::bench
