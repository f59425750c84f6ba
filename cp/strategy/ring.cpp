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

  // attention(q, [kv_0 ... kv_{P-1}]) = merge over i of attention(q, kv_i), the last one rounded to the dtype
  Partial forward(const QBlock& q, const KvBlock& own) override {
    if (comm_.size() == 1) return kernel_.forward(q, own);  // nothing travels
    rotation_->start(own);
    Partial acc = kernel_.forward(q, *rotation_->next());
    const at::ScalarType dtype = own.shape.dtype, wide = accumulation_type(dtype);
    for (int met = 2; const auto kv = rotation_->next(); ++met) {
      acc = merge_(met < comm_.size() ? wide : dtype, acc, kernel_.forward(q, *kv));
      comm_.ledger().merged();
    }
    return acc;
  }

  // The same loop with a second traveller: dq stays, dk and dv go home.
  Gradients backward(const QBlock& q, const KvBlock& own, const Saved& saved) override {
    if (comm_.size() == 1) return kernel_.backward(q, own, saved);
    const at::ScalarType type = accumulation_type(own.shape.dtype);
    const auto carrier = carrier_(comm_, own.shape.in(type));
    const Saved all = kernel_.with_d(saved);
    at::Tensor dq;
    rotation_->start(own);
    while (const auto kv = rotation_->next()) {
      const Gradients term = kernel_.backward(q, *kv, all);
      dq = dq.defined() ? dq + term.dq : term.dq.to(type);
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

std::string names_of_rotations() {
  std::string names;
  for (const auto& [name, entry] : Rotations::all()) names += (names.empty() ? "" : ", ") + name;
  return names;
}

// ":NAME" or ":NAME[keep]"; where no rotation is named, all-to-all.
Arguments parse(std::string_view text) {
  if (text.empty()) return {"alltoall", {}};
  if (!text.starts_with(':'))
    throw std::invalid_argument("'ring" + std::string(text) +
                                "': a ring has its rotation behind a colon; use ring:p2p");
  const std::string rotation(text.substr(1));
  const std::string name = rotation.substr(0, rotation.find('['));
  if (!Rotations::all().contains(name))
    throw std::invalid_argument("unknown rotation '" + rotation + "'; name one that is known: " + names_of_rotations());
  if (name == rotation) return {name, {}};
  if (rotation.substr(name.size()) != kKeep)
    throw std::invalid_argument("rotation '" + rotation + "': the only option is [keep]");
  if (!Rotations::all().at(name).can_keep)
    throw std::invalid_argument("rotation '" + rotation +
                                "' has no gathered K and V to keep; use allgather[keep]");
  return {name, {true}};
}

std::vector<std::string> values() {
  std::vector<std::string> texts;
  for (const auto& [name, entry] : Rotations::all()) {
    texts.push_back(":" + name);
    if (entry.can_keep) texts.push_back(":" + name + std::string(kKeep));
  }
  return texts;
}

std::string canonical(std::string_view text) {
  const auto [rotation, options] = parse(text);
  return ":" + rotation + std::string(options.keep ? kKeep : "");
}

std::unique_ptr<Strategy> make(Communicator& comm, const Plan& plan) {
  const auto [rotation, options] = parse(plan.arguments);
  return std::make_unique<Ring>(comm, plan, plan.rotation_of(rotation), options);
}

// Rank r adds in the order r, r-1, ..., r-P+1 whatever way blocks travel (docs/design.md, 1).
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
     .same_bits = same_bits,
     .representative = [](std::string_view) { return std::string(":p2p"); }}};

}  // namespace
}  // namespace ringcheck
