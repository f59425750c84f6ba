// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <stdexcept>

#include "cp/attention/recorded_kernel.h"
#include "cp/attention/strategy.h"

namespace ringcheck {
namespace {

// ":NAME" or ":NAME[keep]"
struct Named {
  std::string name;
  bool keep = false;
};

Named named(std::string_view arguments) {
  constexpr std::string_view kKeep = "[keep]";
  if (arguments.empty()) return {"alltoall"};
  const bool keep = arguments.ends_with(kKeep);
  if (keep) arguments.remove_suffix(kKeep.size());
  Named result{std::string(arguments.substr(1)), keep};
  if (result.name.find('[') != std::string::npos)
    throw std::invalid_argument("rotation '" + result.name + "': the only option is [keep]");
  if (!Rotations::all().contains(result.name)) {
    std::string known;
    for (const auto& [name, entry] : Rotations::all()) known += (known.empty() ? "" : ", ") + name;
    throw std::invalid_argument("unknown rotation '" + result.name + "'; known: " + known);
  }
  return result;
}

std::string text_of(const Named& rotation) {
  return ":" + rotation.name + (rotation.keep ? "[keep]" : "");
}

std::vector<std::string> all_rotations() {
  std::vector<std::string> list;
  for (const auto& [name, entry] : Rotations::all())
    for (const bool keep : {false, true})
      if (!keep || entry.can_keep) list.push_back(text_of({name, keep}));
  return list;
}

std::optional<std::string> refused(const Plan& plan, const BlockShape&) {
  const Named rotation = named(plan.arguments);
  if (rotation.keep && !Rotations::at(rotation.name).can_keep)
    return "this rotation has no gathered K and V to keep; use allgather[keep]";
  return std::nullopt;
}

// Ring attention (Liu, Zaharia and Abbeel 2023).
class Ring final : public Strategy {
 public:
  Ring(Communicator& comm, const Plan& plan)
      : comm_(comm), plan_(plan), kernel_(plan.kernel, comm.ledger()),
        entry_(plan.rotation_of(named(plan.arguments).name)),
        rotation_(entry_.rotation(comm, plan.layout, {named(plan.arguments).keep})) {}

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
    const auto carrier = entry_.carrier(comm_, own.shape.in(type));
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
  RotationEntry entry_;
  std::unique_ptr<Rotation> rotation_;
};

const Strategies::Add registered{
    "ring",
    {"blocks of K and V pass every rank; the rotation says how they travel",
     [](std::string_view arguments) { return text_of(named(arguments)); }, all_rotations,
     [](Communicator& comm, const Plan& plan) { return std::make_unique<Ring>(comm, plan); },
     refused, [](int world) { return world; },
     // Rank r adds in the order r, r-1, ..., r-P+1 whatever way blocks travel (docs/design.md, 1).
     [](std::string_view arguments) {
       std::vector<std::string> others = all_rotations();
       std::erase(others, arguments);
       return others;
     },
     [](std::string_view) { return std::string(":p2p"); }}};

}  // namespace
}  // namespace ringcheck
