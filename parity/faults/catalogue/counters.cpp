// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Every output is right: only counters of bytes, work or memory can see these.
#include <ATen/ATen.h>

#include "cp/layout/balancer.h"
#include "cp/ledger/memory.h"
#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"
#include "parity/faults/catalogue/cases.h"

namespace ringcheck::parity {
namespace {

// Many ranks with short shards: what they keep of each other is most of what they hold.
constexpr const char* kMany = "ring:p2p/headtail/causal/P16/b2/hq8/hkv1/s256/d8/dv64";

constexpr const char* kStraightHome = "ring:allgather/headtail/causal/P3/b2/hq4/hkv2/s36/d16/dv24";
constexpr const char* kGroups = "gathered[2]/headtail/causal/P3/b2/hq4/hkv2/s36/d16/dv24";
constexpr const char* kHeadsInGroups = "ulysses[2]/headtail/causal/P3/hq12/hkv6/s36/d16";

// K and V are given a head for every query head before they travel; dK and dV are summed after.
RankOutput expanded(Communicator& comm, const Case& test, const RankInput& input) {
  const int64_t group = test.q_heads / test.kv_heads;
  RankInput wide{input.local.to(comm.device(), true), input.positions};
  for (at::Tensor* x : {&wide.local.k, &wide.local.v}) *x = x->repeat_interleave(group, 1);
  RankOutput output = context_parallel(comm, test, wide);
  for (at::Tensor* x : {&output.dk, &output.dv}) {
    const auto sizes = x->sizes();
    const at::Tensor groups = x->view({sizes[0], test.kv_heads, group, sizes[2], sizes[3]});
    *x = groups.to(at::kDouble).sum(2).to(x->scalar_type());
  }
  return output;
}

// What every message of K and V weighs in the accumulation type.
Pending widened(Communicator& comm, Posting posting) {
  if (!posting.is("exchange kv")) return post(comm, std::move(posting));
  const at::Tensor arrives = posting.receives[0].data;
  const at::ScalarType wide = arrives.scalar_type() == at::kFloat ? at::kDouble : at::kFloat;
  at::Tensor& send = posting.sends[0].data;
  at::Tensor& receive = posting.receives[0].data;
  send = send.to(wide);
  receive = at::empty(arrives.sizes(), arrives.options().dtype(wide));
  return Pending([arrives, receive, pending = post(comm, std::move(posting))]() mutable {
    pending.wait();
    arrives.copy_(receive);
  });
}

// The block as if nothing were hidden, for nobody, before what was asked for.
void computes_everything(Parts& parts, Communicator&, const Case&) {
  const auto compute = [kernel = parts.plan.kernel](KernelCall& call) {
    Scores open = call.scores;
    open.mask.kind = Full{};
    const Visibility all = visibility_of(call.q, call.kv, open);
    if (call.saved) kernel->backward(call.q, call.kv, *call.saved, open, all);
    else kernel->forward(call.q, call.kv, open, all);
  };
  parts.plan.kernel = with_around(parts.plan.kernel, {.before = compute});
}

// Nobody asked for it: dK goes round once more when the passes are over.
void sends_once_more(RankOutput& output, Communicator& comm, const Case&) {
  const at::Tensor dk = output.dk.contiguous();
  comm.exchange(dk, comm.right(), at::empty_like(dk), comm.left(), {"exchange gradients"}).wait();
}

// What was to go on beside attention is over when it begins.
Pending waited_for(Communicator& comm, Posting posting) {
  post(comm, std::move(posting)).wait();
  return Pending();
}

const std::vector<at::ScalarType> kNarrow{at::kFloat, at::kBFloat16, at::kHalf};

const FaultGroup group{"counters", {
  {"kv_expanded_before_the_ring", {
    .operators = {"M49"}, .stands_for = "torchtitan#1283",
    .wrong = "key-value heads are repeated for every query head before they are sent",
    .site = Site::kCounters, .cases = {cases::kCausal}, .names = {.words = {"bytes sent"}},
    .subject = ours_with(expanded)}},
  {"kv_sent_wide", {
    .operators = {"M49"}, .stands_for = "ring-flash-attention#8",
    .wrong = "K and V are sent in a wider type than they have",
    .site = Site::kCounters, .cases = {cases::kCausal}, .dtypes = kNarrow,
    .names = {.words = {"bytes sent"}},
    .subject = with_transfers([](Communicator&) { return widened; })}},
  {"balanced_by_document", {
    .operators = {"M50"}, .stands_for = "pytorch#189902",
    .wrong = "documents are cut in plain pieces: outputs are right, ranks work unequally",
    .site = Site::kBalancer, .cases = {"ring:p2p/headtail/doc[4,12]/P2/b2/hq4/hkv2/s16/d16/dv24"},
    .names = {.words = {"pairs attended"}},
    .subject = ours_with([](Communicator& comm, const Case& test, const RankInput& input) {
      const Balancer plain = Balancers::at("contiguous").positions;
      return relaid(ringcheck::layout_of({plain, {}}, {mask_of(test), 1}, test.world), comm, test,
                    input);
    })}},
  {"balancer_off", {
    .operators = {"M50"}, .stands_for = "pytorch#189902",
    .wrong = "the last rank of a causal sequence does most of the work",
    .site = Site::kBalancer, .cases = {cases::kCausal}, .names = {.words = {"pairs attended"}},
    .subject = ours_with([](Communicator& comm, const Case& test, const RankInput& input) {
      const Balancer plain = Balancers::at("contiguous").positions;
      return relaid(ringcheck::layout_of({plain, {}}, {mask_of(test), 1}, test.world), comm, test,
                    input);
    })}},
  {"masked_blocks_computed", {
    .operators = {"M50"}, .stands_for = "pytorch#189902: work that no output shows",
    .wrong = "every block is computed as if nothing were hidden, and the result thrown away",
    .site = Site::kKernel, .cases = {cases::kCausal, cases::kContiguous},
    .names = {.words = {"pairs computed"}}, .subject = with_parts(computes_everything),
    .moot_with = "a kernel that does not say what it computes"}},
  {"hop_waited_for_at_once", {
    .operators = {}, .stands_for = "communication that is exposed again",
    .wrong = "every message is waited for where it is posted: nothing goes on beside attention",
    .site = Site::kCommunicator, .cases = {cases::kCausal, kStraightHome, kGroups, kHeadsInGroups},
    .names = {.words = {"steps while a message is under way"}},
    .subject = with_transfers([](Communicator&) { return waited_for; })}},
  {"sent_outside_the_passes", {
    .operators = {"M48"}, .stands_for = "one extra hop",
    .wrong = "dK goes round once more when the passes are over",
    .site = Site::kCounters, .cases = {cases::kCausal},
    .names = {.words = {"bytes sent outside the passes"}},
    .subject = with_output(sends_once_more)}},
  {"all_partials_kept", {
    .operators = {"M51"}, .stands_for = "TransformerEngine#2916",
    .wrong = "the partial outputs of all steps are kept until the end",
    .site = Site::kCounters, .cases = {cases::kCausal, kMany},
    .names = {.words = {"bytes held while a block is attended"}},
    .subject = with_merge([](const Case&) {
      return [kept = std::vector<Partial>()](const Partial& a, const Partial& b) mutable {
        kept.push_back(b);
        return merge(a, b);
      };
    })}},
  {"all_blocks_kept", {
    .operators = {"M51"}, .stands_for = "TransformerEngine#1208",
    .wrong = "the buffers of received K and V are never released",
    .site = Site::kCounters, .cases = {"ring:p2p/headtail/causal/P5/b2/hq4/hkv2/s40/d16/dv24"},
    .names = {.words = {"K and V bytes held"}},
    .subject = with_rotation([](Communicator&, const Layout&) {
      return [kept = std::vector<KvBlock>()](Rotation& rotation, int) mutable {
        auto block = rotation.next();
        if (!block) return block;
        const KvBlock copy = pack(block->k(), block->v(), block->positions);
        kept.push_back(copy);
        return std::optional<KvBlock>(copy);
      };
    })}},
}};

}  // namespace
}  // namespace ringcheck::parity
