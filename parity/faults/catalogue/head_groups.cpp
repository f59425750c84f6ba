// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Heads are gathered in groups wrongly (strategy gathered).
#include <ATen/ATen.h>

#include "parity/faults/decorators/strategy.h"
#include "parity/faults/fault.h"

namespace ringcheck::parity {
namespace {

// Three groups, several query heads a key-value head.
constexpr const char* kGroups = "gathered[3]/headtail/causal/P3/b2/hq12/hkv6/s36/d16/dv24";
constexpr const char* kRaggedGroups = "gathered/striped[2]/causal/P5/b2/hq8/hkv4/s37/d16/dv24";

constexpr const char* kGather = "gather kv heads";
constexpr const char* kHome = "send gradients of heads";

// The transfer of every group but the first carries what the first one carried.
SharedSubject first_group_again() {
  return with_transfers([](Communicator&) {
    return [first = at::Tensor()](Communicator& comm, Posting posting) mutable {
      if (posting.is(kGather)) {
        if (posting.label.step == 0) first = posting.sends[0].data.clone();
        for (Message& message : posting.sends) message.data = first;
      }
      return post(comm, std::move(posting));
    };
  });
}

// What the last of the others sent is left out of the sum.
Pending without_the_last(Communicator& comm, Posting posting) {
  const at::Tensor last = posting.receives.back().data;
  return Pending([last, pending = post(comm, std::move(posting))]() mutable {
    pending.wait();
    last.zero_();
  });
}

// In bf16 from rank to rank.
Pending sent_narrow(Communicator& comm, Posting posting) {
  for (Message& message : posting.sends) message.data = message.data.to(at::kBFloat16);
  const std::vector<Message> asked = posting.receives;
  for (Message& message : posting.receives) message.data = message.data.to(at::kBFloat16);
  return Pending([asked, got = posting.receives, pending = post(comm, posting)]() mutable {
    pending.wait();
    for (size_t i = 0; i < asked.size(); ++i) asked[i].data.copy_(got[i].data);
  });
}

// The query heads of each third for those of the third before it.
at::Tensor of_the_group_before(const at::Tensor& x, int) { return x.roll(x.size(1) / 3, 1); }
at::Tensor of_the_group_behind(const at::Tensor& x, int) { return x.roll(-x.size(1) / 3, 1); }

SharedSubject in_one_group() {
  return with_parts([](Parts& parts, Communicator&, const Case&) { parts.plan.arguments = "[1]"; });
}

const FaultGroup group{"head_groups", {
  {"sequence_of_shards_by_rank", {
    .operators = {"M22"}, .stands_for = "all-gathered K and V of a balanced layout, not reordered",
    .wrong = "gathered shards are joined one after the other, whatever positions they hold",
    .site = Site::kStrategy, .cases = {kGroups, kRaggedGroups}, .names = {.tensors = {"o", "lse"}},
    .subject = in_order_of(one_after_the_other)}},
  {"gathered_shards_mixed_up", {
    .operators = {"M15"}, .stands_for = "peer swap",
    .wrong = "K and V that came from one rank are put where those of another one belong",
    .site = Site::kCommunicator, .cases = {kGroups, kRaggedGroups},
    .names = {.tensors = {"o", "lse"}}, .subject = with_labelled(kGather, peers_mixed_up)}},
  {"groups_read_the_first_heads", {
    .operators = {"M43"}, .stands_for = "a double buffer that is not filled again",
    .wrong = "every group of heads is attended with K and V of the first one",
    .site = Site::kCommunicator, .cases = {kGroups, kRaggedGroups},
    .names = {.tensors = {"o", "lse"}}, .subject = first_group_again()}},
  {"groups_of_queries_shifted", {
    .operators = {"M26"}, .stands_for = "a slice of query heads by the index of another group",
    .wrong = "query heads meet the key-value heads of the group behind them",
    .site = Site::kStrategy, .cases = {kGroups}, .names = {.tensors = {"o", "lse"}},
    .subject = with_around_strategy({.q = of_the_group_before, .o = of_the_group_behind,
                                     .lse = of_the_group_behind, .d_o = of_the_group_before,
                                     .dq = of_the_group_behind})}},
  {"dk_of_a_group_lands_at_the_next", {
    .operators = {"M17"}, .stands_for = "gradients of heads concatenated in another order",
    .wrong = "dK of each group of heads is that of the group before it",
    .site = Site::kStrategy, .cases = {kGroups}, .names = {.tensors = {"dk"}},
    .subject = with_around_strategy({.dk = of_the_group_before})}},
  {"term_of_a_rank_left_out", {
    .operators = {"M16"}, .stands_for = "a reduce-scatter of one rank too few",
    .wrong = "the sum of dK and dV lacks the term of one rank",
    .site = Site::kCommunicator, .cases = {kGroups, kRaggedGroups},
    .names = {.tensors = {"dk", "dv"}}, .subject = with_labelled(kHome, without_the_last)}},
  {"terms_sent_in_bf16", {
    .operators = {"M07"}, .stands_for = "a reduce-scatter in the dtype of the model",
    .wrong = "terms of dK and dV are rounded to bf16 before they are added: half the bytes",
    .site = Site::kCommunicator, .cases = {kGroups}, .names = {.words = {"bytes sent"}},
    .subject = with_labelled(kHome, sent_narrow)}},
  {"all_heads_gathered_at_once", {
    .operators = {"M51"}, .stands_for = "an all-gather that holds all of K and V",
    .wrong = "all heads are gathered at once: right, with three times the memory",
    .site = Site::kStrategy, .cases = {kGroups}, .names = {.words = {"K and V held", "messages"}},
    .subject = in_one_group()}},
}};

}  // namespace
}  // namespace ringcheck::parity
