// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <stdexcept>

#include "cp/attention/recorded_kernel.h"
#include "cp/attention/strategy.h"

namespace ringcheck {
namespace {

// All K and V come to every rank once and stay for the backward pass. Owners are visited in the
// order of their ranks, whoever visits; gradients go straight to their owner, all at once.
class Gather final : public Strategy {
 public:
  Gather(Communicator& comm, const Plan& plan)
      : comm_(comm), kernel_(plan, comm.ledger()), merge_(plan.merge), keys_(plan.layout.keys) {}

  Partial forward(const QBlock& q, const KvBlock& own) override {
    if (comm_.size() == 1) return kernel_.forward(q, own);  // nothing is sent, and K and V are as they came
    gathered_ = comm_.buffers(own.shape.elements(), own.shape.dtype, MemoryTag::kKv);
    comm_.all_gather(pack(own.k(), own.v(), own.positions).packed, gathered_, {"gather kv", 0}).wait();
    Partial sum = kernel_.forward(q, block_of(0, own));
    for (int owner = 1; owner < comm_.size(); ++owner) {
      sum = merge_(accumulation_type(own.shape.dtype), sum, kernel_.forward(q, block_of(owner, own)));
      comm_.ledger().merged();
    }
    return sum;
  }

  Gradients backward(const QBlock& q, const KvBlock& own, const Saved& saved) override {
    if (comm_.size() == 1) return kernel_.backward(q, own, saved);
    const KvShape shape = own.shape.in(accumulation_type(own.shape.dtype));
    std::vector<at::Tensor> terms, arrived(comm_.size());
    at::Tensor dq;
    for (int owner = 0; owner < comm_.size(); ++owner) {
      const Gradients term = kernel_.backward(q, block_of(owner, own), saved);
      dq = dq.defined() ? dq + term.dq : term.dq;
      const PackedKv packed{traveller(shape), shape};
      packed.k().copy_(term.dk);
      packed.v().copy_(term.dv);
      terms.push_back(packed.packed);
    }
    const PackedKv sum{terms[comm_.rank()], shape};
    terms[comm_.rank()].reset();
    for (int helper = 0; helper < comm_.size(); ++helper)
      if (helper != comm_.rank()) arrived[helper] = traveller(shape);
    comm_.all_to_all(terms, arrived, {"gradients home", 0}).wait();
    for (const at::Tensor& term : arrived)
      if (term.defined()) sum.packed.add_(term);
    return {dq, sum.k(), sum.v()};
  }

 private:
  KvBlock block_of(int owner, const KvBlock& own) const {
    return {{gathered_.at(owner), own.shape}, keys_.at(owner), own.heads};
  }
  at::Tensor traveller(const KvShape& shape) {
    return comm_.buffer(shape.elements(), shape.dtype, MemoryTag::kTraveller);
  }

  Communicator& comm_;
  RecordedKernel kernel_;
  Merge merge_;
  std::vector<Positions> keys_;
  std::vector<at::Tensor> gathered_;
};

std::string canonical(std::string_view arguments) {
  if (!arguments.empty())
    throw std::invalid_argument("strategy gather takes no arguments, got '" +
                                std::string(arguments) + "'; say gather alone");
  return "";
}

const Strategies::Add registered{
    "gather",
    {.says = "K and V are gathered once, owners are visited in the order of their ranks",
     .canonical = canonical,
     .values = [] { return std::vector<std::string>{""}; },
     .make = [](Communicator& comm, const Plan& plan) -> std::unique_ptr<Strategy> {
       return std::make_unique<Gather>(comm, plan);
     },
     .refuses = [](const Plan&, const BlockShape&) { return std::nullopt; },
     .partials = [](int world) { return world; },
     .same_bits = [](std::string_view) { return std::vector<std::string>(); },
     .representative = [](std::string_view arguments) { return std::string(arguments); }}};

}  // namespace
}  // namespace ringcheck
