// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/attention/autograd.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "property_tests/parity/case/generators.h"
#include "property_tests/cp/attention/passes.h"

namespace ringcheck {
namespace {

std::vector<parity::Case> cases() {
  std::vector<parity::Case> all;
  for (const char* text :
       {"ring:p2p/headtail/plain/causal/P3/b2/hq4/hkv2/s21/d8/dv6/float32/rope:half[10000]",
        "ring:alltoall/contiguous/plain/full/P2/hq2/hkv2/s9/d4/float64",
        "ring:allgather[keep]/striped[2]/plain/window[5]/P4/hq6/hkv2/s30/d8/bf16/"
        "rope:interleaved[100]",
        "ring:allgather/headtail/plain/doc[7:9,4]/P1/hq2/hkv1/s13/d4/fp16"})
    all.push_back(parity::parse_case(text));
  return all;
}

// Runs `use` on every rank of every case, with leaves that require gradients; says what was wrong.
using Use = std::function<std::string(const std::shared_ptr<ContextParallel>&,
                                      const parity::Problem&, const Gradients& expected)>;

void on_leaves(const Use& use) {
  for (const parity::Case& test : cases()) {
    const parity::Problem problem = parity::problem_of(test);
    const std::vector<Positions> layout = parity::layout_of(test).queries;
    const auto wrong = on_every_rank(test.world, [&](Communicator& comm) {
      const parity::Problem p = local_problem(test, problem, layout[comm.rank()], 0);
      const auto attention = std::make_shared<ContextParallel>(comm, parity::options_of(test));
      auto context = attention->forward(p.q, p.k, p.v);
      const Gradients expected = attention->backward(context, p.d_o);
      const auto leaf = [](const at::Tensor& x) { return x.clone().requires_grad_(true); };
      return use(attention, {leaf(p.q), leaf(p.k), leaf(p.v), p.d_o}, expected);
    });
    EXPECT_EQ(wrong, std::vector<std::string>(test.world)) << parity::to_text(test);
  }
}

std::string unlike(const parity::Problem& leaves, const Gradients& expected) {
  return difference(leaves.q.grad(), expected.dq) + difference(leaves.k.grad(), expected.dk) +
         difference(leaves.v.grad(), expected.dv);
}

// loss.backward() gives the gradients of ContextParallel::backward, bit for bit.
TEST(Autograd, LossBackwardIsContextParallelBackward) {
  on_leaves([](const auto& attention, const parity::Problem& x, const Gradients& expected) {
    const at::Tensor o = context_parallel_attention(x.q, x.k, x.v, attention).o;
    (o * x.d_o).sum().backward();
    return unlike(x, expected);
  });
}

// The output is that of the forward pass; it requires a gradient where an input does.
TEST(Autograd, OutputIsContextParallelForward) {
  on_leaves([](const auto& attention, const parity::Problem& x, const Gradients&) {
    const auto [o, lse] = context_parallel_attention(x.q, x.k, x.v, attention);
    const auto context = attention->forward(x.q.detach(), x.k.detach(), x.v.detach());
    if (!o.requires_grad() || lse.requires_grad())
      return std::string("O requires a gradient, and LSE none");
    return difference(o.detach(), context.o) + difference(lse, context.lse);
  });
}

// Gradients accumulate over two layers that share their inputs, as autograd adds them.
TEST(Autograd, TwoUsesAddUp) {
  on_leaves([](const auto& attention, const parity::Problem& x, const Gradients& once) {
    const at::Tensor first = context_parallel_attention(x.q, x.k, x.v, attention).o;
    const at::Tensor second = context_parallel_attention(x.q, x.k, x.v, attention).o;
    ((first + second) * x.d_o).sum().backward();
    return unlike(x, {once.dq + once.dq, once.dk + once.dk, once.dv + once.dv});
  });
}

// The incoming gradient may have any strides: that of sum() is one element, expanded.
TEST(Autograd, AnExpandedGradientIsTaken) {
  on_leaves([](const auto& attention, const parity::Problem& x, const Gradients&) {
    context_parallel_attention(x.q, x.k, x.v, attention).o.sum().backward();
    auto context = attention->forward(x.q.detach(), x.k.detach(), x.v.detach());
    return unlike(x, attention->backward(context, at::ones_like(context.o)));
  });
}

// What the backward pass needs goes with the output, and not in a circle that keeps itself.
TEST(Autograd, WhoDropsTheOutputHasItsMemoryAgain) {
  on_leaves([](const auto& attention, const parity::Problem& x, const Gradients&) {
    at::Tensor o = context_parallel_attention(x.q, x.k, x.v, attention).o;
    const c10::weak_intrusive_ptr<c10::StorageImpl> memory(o.storage().getWeakStorageImpl());
    o.reset();
    return std::string(memory.expired() ? "" : "the output lives on");
  });
}

// The chain rule goes on through what comes before: q = w x.
TEST(Autograd, GradientsFlowIntoTheModel) {
  on_leaves([](const auto& attention, const parity::Problem& x, const Gradients&) {
    const at::Tensor w = at::full({1}, 2, x.q.options()).requires_grad_(true);
    (context_parallel_attention(x.q.detach() * w, x.k, x.v, attention).o * x.d_o).sum().backward();
    auto context = attention->forward(x.q.detach() * 2, x.k.detach(), x.v.detach());
    const Gradients d = attention->backward(context, x.d_o);
    const at::Tensor expected = (d.dq * x.q.detach()).sum_to_size({1});
    return difference(w.grad(), expected) + difference(x.k.grad(), d.dk);
  });
}

}  // namespace
}  // namespace ringcheck
