// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <stdexcept>

#include "cp/attention/recorded_kernel.h"
#include "cp/attention/strategy.h"

namespace ringcheck {
namespace {

// Ring attention (Liu, Zaharia and Abbeel 2023).
class Ring final : public Strategy {
 public:
  Ring(Communicator& comm, const Plan& plan, const RotationEntry& rotation, RotationOptions options)
      : comm_(comm), kernel_(plan, comm.ledger()), merge_(plan.merge), carrier_(rotation.carrier),
        rotation_(rotation.rotation(comm, plan.layout, options)) {}

  // attention(q, [kv_0 ... kv_{P-1}]) = merge over i of attention(q, kv_i)
  Partial forward(const QBlock& q, const KvBlock& own) override {
    auto sizes = q.q.sizes().vec();
    sizes.back() = own.shape.dim_v;
    Partial acc = Partial::identity(sizes, q.q.options());
    rotation_->start(own);
    while (const auto kv = rotation_->next()) {
      acc = merge_(acc, kernel_.forward(q, *kv));
      comm_.ledger().merged();
    }
    return acc;
  }

  // The same loop with a second traveller: dq stays, dk and dv go home.
  Gradients backward(const QBlock& q, const KvBlock& own, const Saved& saved) override {
    const at::ScalarType type = accumulation_type(own.shape.dtype);
    const auto carrier = carrier_(comm_, own.shape.in(type));
    at::Tensor dq;
    rotation_->start(own);
    while (const auto kv = rotation_->next()) {
      const Gradients term = kernel_.backward(q, *kv, saved);
      dq = dq.defined() ? dq + term.dq : term.dq;
      carrier->add(term.dk, term.dv);
    }
    const PackedKv home = carrier->home();
    return {dq, home.k(), home.v()};
  }

 private:
  Communicator& comm_;
  RecordedKernel kernel_;
  Merge merge_;
  std::function<std::unique_ptr<GradientCarrier>(Communicator&, const KvShape&)> carrier_;
  std::unique_ptr<Rotation> rotation_;
};

constexpr std::string_view kKeep = "[keep]";

// Behind the name of the ring: by which rotation the blocks go round.
struct Arguments {
  std::string rotation;
  RotationOptions options;
};

std::vector<std::string> values() {
  std::vector<std::string> texts;
  for (const auto& [name, entry] : Rotations::all()) {
    texts.push_back(":" + name);
    if (entry.can_keep) texts.push_back(":" + name + std::string(kKeep));
  }
  return texts;
}

// No rotation is named: PyTorch's.
Arguments parse(std::string_view text) {
  if (text.empty()) return {"alltoall", {}};
  for (const std::string& known : values()) {
    if (known != text) continue;
    const bool keep = text.ends_with(kKeep);
    return {known.substr(1, known.size() - 1 - (keep ? kKeep.size() : 0)), {keep}};
  }
  std::string names;
  for (const std::string& known : values()) names += (names.empty() ? "ring" : ", ring") + known;
  throw std::invalid_argument("strategy 'ring" + std::string(text) +
                              "': a ring has one of its rotations, and only one that gathers K "
                              "and V can [keep] them; use one of " + names);
}

std::string canonical(std::string_view text) {
  const auto [rotation, options] = parse(text);
  return ":" + rotation + std::string(options.keep ? kKeep : "");
}

std::unique_ptr<Strategy> make(Communicator& comm, const Plan& plan) {
  const auto [rotation, options] = parse(plan.arguments);
  return std::make_unique<Ring>(comm, plan, plan.rotation_of(rotation), options);
}

// All rotations bring the same blocks in the same order.
std::vector<std::string> same_bits(std::string_view arguments) {
  std::vector<std::string> others = values();
  std::erase(others, canonical(arguments));
  return others;
}

const Strategies::Add registered{
    "ring",
    {.says = "ring attention: K and V go round, by the rotation behind the colon",
     .canonical = canonical,
     .values = values,
     .make = make,
     .refuses = [](const Plan&, const BlockShape&) { return std::nullopt; },
     .partials = [](int world) { return world; },
     .same_bits = same_bits}};

}  // namespace
}  // namespace ringcheck
