// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "cp/attention/recorded_kernel.h"
#include "cp/attention/strategy.h"

namespace ringcheck {
namespace {

// Ring attention (Liu, Zaharia and Abbeel 2023).
class Ring final : public Strategy {
 public:
  Ring(Communicator& comm, const Plan& plan)
      : comm_(comm), plan_(plan), kernel_(plan.kernel, comm.ledger()),
        rotation_(plan.rotation.rotation(comm, plan.layout, plan.rotation_options)) {}

  // attention(q, [kv_0 ... kv_{P-1}]) = merge over i of attention(q, kv_i)
  Partial forward(const QBlock& q, const KvBlock& own) override {
    auto sizes = q.q.sizes().vec();
    sizes.back() = own.shape.dim_v;
    Partial acc = Partial::identity(sizes, q.q.options());
    rotation_->start(own);
    while (const auto kv = rotation_->next()) {
      acc = plan_.merge(acc, kernel_.forward(q, *kv, plan_.mask, plan_.scale));
      comm_.ledger().merged();
    }
    return acc;
  }

  // The same loop with a second traveller: dq stays, dk and dv go home.
  Gradients backward(const QBlock& q, const KvBlock& own, const Saved& saved) override {
    const at::ScalarType type = accumulation_type(own.shape.dtype);
    const auto carrier = plan_.rotation.carrier(comm_, own.shape.in(type));
    at::Tensor dq;
    rotation_->start(own);
    while (const auto kv = rotation_->next()) {
      const Gradients term = kernel_.backward(q, *kv, saved, plan_.mask, plan_.scale);
      dq = dq.defined() ? dq + term.dq : term.dq;
      carrier->add(term.dk, term.dv);
    }
    const PackedKv home = carrier->home();
    return {dq, home.k(), home.v()};
  }

 private:
  Communicator& comm_;
  Plan plan_;
  RecordedKernel kernel_;
  std::unique_ptr<Rotation> rotation_;
};

const Strategies::Add registered{"ring", [](Communicator& comm, const Plan& plan) {
                                   return std::make_unique<Ring>(comm, plan);
                                 }};

}  // namespace
}  // namespace ringcheck
