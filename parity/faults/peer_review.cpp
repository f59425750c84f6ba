// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/peer_review.h"

#include <mutex>

#include "parity/judge/comparison.h"
#include "parity/faults/fault_effect.h"
#include "parity/faults/peer_test.h"
#include "parity/judge/truth.h"

namespace ringcheck::parity {
namespace {

using Opinions = std::map<std::string, Status>;

Opinions all_of(Status status) {
  Opinions opinions;
  for (const auto& [name, peer] : PeerTests::all()) opinions[name] = status;
  return opinions;
}

// One tensor: a shape that is not that of the truth is noticed by whoever looks at it.
Status opinion(const PeerTest& peer, const Exhibit& exhibit) {
  const bool comparable = exhibit.actual.sizes() == exhibit.exact.sizes() &&
                          exhibit.alone.sizes() == exhibit.exact.sizes();
  if (!comparable) {
    const auto looks = peer.accepts({exhibit.test, exhibit.tensor, exhibit.exact, exhibit.exact,
                                     exhibit.exact, exhibit.exact, {exhibit.exact}});
    return looks ? Status::kFail : Status::kNotApplicable;
  }
  const auto accepted = peer.accepts(exhibit);
  if (!accepted) return Status::kNotApplicable;
  return *accepted ? Status::kPass : Status::kFail;
}

std::vector<at::Tensor> wide(const std::vector<reference::Tensors>& runs,
                             at::Tensor reference::Tensors::*tensor) {
  std::vector<at::Tensor> list;
  for (const reference::Tensors& run : runs) list.push_back((run.*tensor).to(at::kDouble));
  return list;
}

Opinions opinions_on(const Fault& fault, const Case& test) {
  Case undivided = test;
  undivided.world = 1;
  const auto outcome = faulty_outcome(fault, test), alone = faulty_outcome(fault, undivided);
  if (!outcome || !alone) return all_of(Status::kFail);
  const Problem problem = problem_of(test).to(outcome->tensors.o.device());
  const reference::Judgement truth = truth_of(test, ours()->promise(test), problem, *outcome, {});
  const reference::Tensors eager = eager_attention(test, problem);
  const std::vector<reference::Tensors> perturbed = perturbed_attention(test, problem);
  Opinions opinions = all_of(Status::kNotApplicable);
  for (const auto& [name, tensor] : kTensors) {
    if (!(outcome->tensors.*tensor).defined() || !(alone->tensors.*tensor).defined()) continue;
    const Exhibit exhibit{test,
                          name,
                          (outcome->tensors.*tensor).to(at::kDouble),
                          (alone->tensors.*tensor).to(at::kDouble),
                          truth.value.*tensor,
                          (eager.*tensor).to(at::kDouble),
                          wide(perturbed, tensor)};
    for (const auto& [who, peer] : PeerTests::all()) {
      const Status here = opinion(peer, exhibit);
      Status& whole = opinions[who];
      if (here == Status::kFail || whole == Status::kNotApplicable) whole = here;
    }
  }
  return opinions;
}

// What they say of a case that nothing was planted in. Asked once a case.
const Opinions& opinions_on_clean(const Case& test) {
  static std::mutex mutex;
  static std::map<std::string, Opinions> known;
  const std::lock_guard lock(mutex);
  auto [entry, is_new] = known.try_emplace(to_text(test));
  if (is_new) {
    Fault none;
    none.subject = ours();
    entry->second = opinions_on(none, test);
  }
  return entry->second;
}

}  // namespace

Opinions peer_review(const Fault& fault, const Case& test) {
  Opinions opinions = opinions_on(fault, test);
  for (const auto& [name, clean] : opinions_on_clean(test))
    if (clean == Status::kFail) opinions[name] = Status::kInconclusive;
  return opinions;
}

}  // namespace ringcheck::parity
