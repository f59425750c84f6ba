// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Heads are exchanged for positions wrongly (strategy ulysses).
#include <ATen/ATen.h>

#include "parity/faults/decorators/strategy.h"
#include "parity/faults/fault.h"

namespace ringcheck::parity {
namespace {

// Every rank has several heads, and several query heads a key-value head.
constexpr const char* kHeads = "ulysses/headtail/causal/P3/b2/hq12/hkv6/s36/d16/dv24";
constexpr const char* kRaggedHeads = "ulysses/headtail/causal/P3/b2/hq12/hkv6/s37/d16/dv24";

constexpr const char* kIn = "q, k and v by heads";
constexpr const char* kOut = "o to its ranks";

// Heads 0, P, 2P, ... first, then 1, P + 1, ...: as cards are dealt; and back.
at::Tensor dealt(const at::Tensor& x, int world) {
  return x.unflatten(1, {x.size(1) / world, world}).transpose(1, 2).flatten(1, 2);
}
at::Tensor collected(const at::Tensor& x, int world) {
  return x.unflatten(1, {world, x.size(1) / world}).transpose(1, 2).flatten(1, 2);
}

// The heads of each rank for those of the rank before it.
at::Tensor of_the_neighbour(const at::Tensor& x, int world) {
  return x.roll(x.size(1) / world, 1);
}

// Entries of the batch that came from one rank, each for the other.
Pending batch_mixed_up(Communicator& comm, Posting posting) {
  std::vector<Message>& receives = posting.receives;
  for (size_t i = 0; i + 1 < receives.size(); i += 2)
    if (receives[i].peer == receives[i + 1].peer) std::swap(receives[i].data, receives[i + 1].data);
  return post(comm, std::move(posting));
}

// O in the accumulation type, as the kernel returned it, and rounded where it arrives.
Pending sent_wide(Communicator& comm, Posting posting) {
  const auto widen = [](Message& message) {
    if (message.data.element_size() == 2) message.data = message.data.to(at::kFloat);
  };
  for (Message& message : posting.sends) widen(message);
  const std::vector<Message> asked = posting.receives;
  for (Message& message : posting.receives) widen(message);
  return Pending([asked, got = posting.receives, pending = post(comm, posting)]() mutable {
    pending.wait();
    for (size_t i = 0; i < asked.size(); ++i)
      if (asked[i].data.scalar_type() != got[i].data.scalar_type())
        asked[i].data.copy_(got[i].data);
  });
}

const Named kForward{.tensors = {"o", "lse"}};
const std::vector<at::ScalarType> kIn16Bits{at::kBFloat16, at::kHalf};

const FaultGroup group{"heads", {
  {"query_heads_dealt_like_cards", {
    .operators = {"M26"}, .stands_for = "query heads in turn, key-value heads in runs",
    .wrong = "ranks get query heads r, r + P, ..., but key-value heads in runs: groups do not meet",
    .site = Site::kStrategy, .cases = {kHeads}, .names = {.tensors = {"o", "lse", "dq"}},
    .subject = with_around_strategy(
        {.q = dealt, .o = collected, .lse = collected, .d_o = dealt, .dq = collected})}},
  {"lse_of_heads_not_put_back", {
    .operators = {"M24"}, .stands_for = "an all-to-all that joins along the wrong axis",
    .wrong = "O comes back in the order of the heads, LSE by rank within a head",
    .site = Site::kStrategy, .cases = {kHeads}, .names = {.tensors = {"lse"}},
    .subject = with_around_strategy({.lse = dealt})}},
  {"dk_heads_of_the_neighbour", {
    .operators = {"M17"}, .stands_for = "the inverse all-to-all of dK off by one rank",
    .wrong = "dK of the heads of each rank lands at those of the next one",
    .site = Site::kStrategy, .cases = {kHeads}, .names = {.tensors = {"dk"}},
    .subject = with_around_strategy({.dk = of_the_neighbour})}},
  {"dq_heads_not_put_back", {
    .operators = {"M24"}, .stands_for = "a transpose that backward forgets",
    .wrong = "dQ comes back by rank within a head",
    .site = Site::kStrategy, .cases = {kHeads}, .names = {.tensors = {"dq"}},
    .subject = with_around_strategy({.dq = dealt})}},
  {"shards_joined_by_rank", {
    .operators = {"M22"}, .stands_for = "Ulysses over a balanced layout",
    .wrong = "shards are joined one after the other, whatever positions they hold",
    .site = Site::kStrategy, .cases = {kHeads, kRaggedHeads}, .names = kForward,
    .subject = in_order_of(one_after_the_other)}},
  {"shards_of_two_ranks_mixed_up", {
    .operators = {"M15"}, .stands_for = "peer swap",
    .wrong = "what came from one rank is put where that of another one belongs",
    .site = Site::kCommunicator, .cases = {kHeads}, .names = kForward,
    .subject = with_labelled(kIn, peers_mixed_up)}},
  {"batch_mixed_up_by_the_exchange", {
    .operators = {"M24"}, .stands_for = "DeepSpeed#5808",
    .wrong = "the exchange of heads does not keep the entries of a batch apart",
    .site = Site::kCommunicator, .cases = {kHeads}, .names = kForward,
    .subject = with_labelled(kIn, batch_mixed_up)}},
  {"o_by_heads_sent_wide", {
    .operators = {"M49"}, .stands_for = "rounding after the all-to-all",
    .wrong = "O travels in float32 and is rounded where it arrives: twice the bytes",
    .site = Site::kCommunicator, .cases = {kHeads}, .dtypes = kIn16Bits,
    .names = {.words = {"bytes sent"}}, .subject = with_labelled(kOut, sent_wide)}},
}};

}  // namespace
}  // namespace ringcheck::parity
