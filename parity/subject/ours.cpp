// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/ours.h"

#include <ATen/ATen.h>

#include <torch/csrc/autograd/autograd.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cp/attention/autograd.h"
#include "parity/subject/checks/given.h"

namespace ringcheck::parity {
namespace {

// All of a problem whose result nobody looks at.
void solve_aside(ContextParallel& attention, const Problem& local) {
  auto context = attention.forward(local.q, local.k, local.v);
  attention.backward(context, local.d_o);
}

// Another one, under which every block is masked otherwise, and most in part.
Mask other_mask(Mask mask) {
  if (std::holds_alternative<Causal>(mask.kind)) mask.kind = Window{1 + mask.length / 3};
  else mask.kind = Causal{};
  return mask;
}

// These, taken from an attention that has run under another mask, where its kernel computes one.
ContextParallel::Options used_before(Communicator& comm, const ContextParallel::Options& parts,
                                     const Problem& other) {
  ContextParallel::Options others = parts;
  others.plan.scores.mask = other_mask(others.plan.scores.mask);
  const BlockShape shape{other.q.scalar_type(), comm.device(), other.q.size(0), other.q.size(1),
                         other.k.size(1), other.q.size(3), other.v.size(3)};
  if (refuses(others.strategy, others.plan, shape)) others.plan.scores.mask = parts.plan.scores.mask;
  ContextParallel first(comm, others);
  solve_aside(first, other);
  ContextParallel::Options used = first.options();
  used.plan.scores = parts.plan.scores;
  return used;
}

// The tensors of both passes; everything else is gone when it returns.
RankOutput both_passes(Communicator& comm, const ContextParallel::Options& parts,
                       const Problem& local, const std::optional<Problem>& meanwhile) {
  const auto aside = [&] { return meanwhile->to(comm.device(), true); };
  ContextParallel attention(comm, meanwhile ? used_before(comm, parts, aside()) : parts);
  if (meanwhile) solve_aside(attention, aside());
  auto context = attention.forward(local.q, local.k, local.v);
  if (meanwhile) {
    attention.backward(context, local.d_o);
    solve_aside(attention, aside());
  }
  const Gradients gradients = attention.backward(context, local.d_o);
  RankOutput output{context.o, context.lse, gradients.dq, gradients.dk, gradients.dv, {}, {}, {}};
  if (parts.rope.pairing != Rope::Pairing::kNone) {
    output.q_rotated = context.q.q;
    output.k_rotated = context.kv.k().clone();
  }
  return output;
}

// Backward through one graph twice, first for another gradient of O: the second pass counts.
RankOutput through_autograd(Communicator& comm, const ContextParallel::Options& parts,
                            const Problem& local) {
  const auto attention = std::make_shared<ContextParallel>(comm, parts);
  const auto leaf = [](const at::Tensor& x) { return x.detach().requires_grad_(true); };
  const at::Tensor q = leaf(local.q), k = leaf(local.k), v = leaf(local.v);
  const auto [o, lse] = context_parallel_attention(q, k, v, attention);
  torch::autograd::grad({o}, {q, k, v}, {-local.d_o}, /*retain_graph=*/true);
  const auto gradients = torch::autograd::grad({o}, {q, k, v}, {local.d_o});
  return {o.detach(), lse, gradients[0], gradients[1], gradients[2], {}, {}, {}};
}

Promise promise_of_ours(const Case& test) {
  Promise promise;
  promise.contract = contract_of(test);
  promise.backward_contract = backward_contract_of(test);
  promise.partials = Strategies::at(test.strategy).partials(test.world) * partials_of_a_call(test);
  promise.gradient_partials = gradient_partials_of(test);
  promise.deterministic = contract_json(test.kernel).at("deterministic").get<bool>();
  if (test.rope.pairing != Rope::Pairing::kNone) promise.shows.insert({"q", "k"});
  using Counts = Promise::Counts;
  promise.counts = {Counts::kTraffic, Counts::kWork, Counts::kMemory};
  promise.by_strategy = true;
  promise.separate_passes = promise.autograd = promise.any_layout = promise.lengths = true;
  promise.charts = charts_of(test);
  return promise;
}

class Ours final : public Subject {
 public:
  explicit Ours(Body body, std::function<void(Promise&)> change)
      : body_(std::move(body)), change_(std::move(change)) {}

  std::optional<std::string> refuses(const Case& test) const override { return not_supported(test); }
  Promise promise(const Case& test) const override {
    Promise promise = promise_of_ours(test);
    if (change_) change_(promise);
    return promise;
  }
  RankOutput run(Communicator& comm, const Case& test, const RankInput& input) const override {
    return body_(comm, test, input);
  }

 private:
  Body body_;
  std::function<void(Promise&)> change_;
};

const Subjects::Add registered{Method::kOurs, [](const std::vector<std::string>& arguments) {
  if (!arguments.empty())
    throw BadCase("subject ours takes no arguments, got '" + arguments.front() +
                  "'; its strategy, balancer and kernel are parts of the case");
  return ours();
}};

}  // namespace

const SharedSubject& ours() {
  static const SharedSubject subject = ours_with(context_parallel);
  return subject;
}

SharedSubject ours_with(Body body, std::function<void(Promise&)> change) {
  return std::make_shared<Ours>(std::move(body), std::move(change));
}

ContextParallel::Options options_of(const Case& test) {
  return {Strategies::at(test.strategy), plan_of(test), test.rope};
}

RankOutput context_parallel(Communicator& comm, const Case& test, const RankInput& input) {
  return context_parallel_with(options_of(test), comm, test, input);
}

RankOutput context_parallel_with(ContextParallel::Options parts, Communicator& comm, const Case&,
                                 const RankInput& input) {
  if (input.layout) parts.plan.layout = *input.layout;
  const Problem local = input.local.to(comm.device(), true);
  const Given given(local);
  RankOutput output = input.by_autograd ? through_autograd(comm, parts, local)
                                        : both_passes(comm, parts, local, input.meanwhile);
  if (const int64_t changed = given.changed(local))
    throw std::runtime_error("attention wrote into " + Given::names(changed) + ", which it was given");
  output.did_as_asked = input.by_autograd || input.meanwhile || input.layout;
  return output;
}

}  // namespace ringcheck::parity
