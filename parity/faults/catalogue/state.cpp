// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Right in the first call, wrong by what other calls, communicators or contents left behind.
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <map>
#include <memory>
#include <mutex>

#include "cp/ledger/memory.h"
#include "parity/faults/catalogue/cases.h"
#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"

namespace ringcheck::parity {
namespace {

// What a process remembers by key; its ranks are threads.
template <class Value>
class Memory {
 public:
  // What is known under the key; the first value that comes with it stays.
  Value first(const std::string& key, const Value& value) {
    const std::lock_guard lock(mutex_);
    return known_.try_emplace(key, value).first->second;
  }
  void update(const std::string& key, const std::function<void(Value&)>& change) {
    const std::lock_guard lock(mutex_);
    change(known_[key]);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Value> known_;
};

std::string own_key(const Communicator& comm, const Case& test) {
  return c10::str(to_text(test), "/rank ", comm.rank());
}

// Bit for bit, by what the tensors hold.
std::string content(const at::Tensor& x) {
  const at::Tensor flat = x.cpu().contiguous();
  return {static_cast<const char*>(flat.data_ptr()), flat.nbytes()};
}

// A plan is known by everything but the scale.
SharedSubject planned_without_scale() {
  return with_parts([plans = std::make_shared<Memory<double>>()](Parts& parts, Communicator& comm,
                                                                 const Case& test) {
    Case shape = test;
    shape.scale.reset();
    shape.seed = 0;
    double& scale = parts.plan.scores.scale;
    scale = plans->first(own_key(comm, shape), scale);
  });
}

// O and LSE are known by the K and V of a rank.
SharedSubject cached_by_keys() {
  using Answers = Memory<std::pair<at::Tensor, at::Tensor>>;
  return ours_with([answers = std::make_shared<Answers>()](
                       Communicator& comm, const Case& test, const RankInput& input) {
    RankOutput output = context_parallel(comm, test, input);
    const std::string key =
        c10::str(own_key(comm, test), content(input.local.k), content(input.local.v));
    std::tie(output.o, output.lse) = answers->first(key, {output.o, output.lse});
    return output;
  });
}

// A shard of K and V is known by its extremes.
SharedSubject known_by_extremes() {
  using Shards = Memory<std::pair<at::Tensor, at::Tensor>>;
  return with_input([shards = std::make_shared<Shards>()](Problem& local, Communicator&,
                                                          const Case& test) {
    std::string key = to_text(test);
    for (const at::Tensor& x : {local.k.amin(), local.k.amax(), local.v.amin(), local.v.amax()})
      key += content(x);
    std::tie(local.k, local.v) = shards->first(key, {local.k.clone(), local.v.clone()});
  });
}

// The sums of a communicator are never cleared: a second call adds to the first.
SharedSubject never_cleared() {
  struct Sum {
    std::weak_ptr<Ledger> owner;  // of the communicator
    at::Tensor o;
  };
  return with_output([sums = std::make_shared<Memory<Sum>>()](
                         RankOutput& output, Communicator& comm, const Case& test) {
    sums->update(own_key(comm, test), [&](Sum& sum) {
      if (sum.owner.lock() == comm.shared_ledger()) output.o = output.o + sum.o;
      sum = {comm.shared_ledger(), output.o};
    });
  });
}

// One small tensor a call that nobody frees.
SharedSubject kept_after_each_call() {
  using Kept = Memory<std::vector<at::Tensor>>;
  return with_output([all = std::make_shared<Kept>()](RankOutput& output, Communicator& comm,
                                                      const Case& test) {
    all->update(own_key(comm, test), [&](std::vector<at::Tensor>& kept) {
      kept.push_back(output.lse.flatten().narrow(0, 0, 8).clone());
    });
  });
}

// There is one place for LSE, and the forward pass before the last backward pass wrote it.
AroundKernel one_place_for_lse(Communicator&, const Case&) {
  return {[met = std::vector<at::Tensor>()](KernelCall& call) mutable {
    if (!call.saved) return;
    const bool is_new = std::ranges::none_of(
        met, [&](const at::Tensor& lse) { return lse.is_same(call.saved->lse); });
    if (is_new) met.push_back(call.saved->lse);
    call.saved->lse = met.back();
  }};
}

// In every fifth call the atomic sum of rank 1 loses what it has of dQ.
SharedSubject lost_now_and_then() {
  return with_output(
      [calls = std::make_shared<Memory<int>>()](RankOutput& output, Communicator& comm,
                                                const Case& test) {
        calls->update(own_key(comm, test), [&](int& count) {
          if (++count % 5 == 0 && comm.rank() == 1) output.dq.zero_();
        });
      },
      [](Promise& promise) { promise.deterministic = false; });
}

// Attention on a group of its own, whose number must fit two bits of the tag of a message: beyond
// them, what arrives is another group's.
SharedSubject tags_of_two_bits() {
  return ours_with([](Communicator& comm, const Case& test, const RankInput& input) {
    const auto group = comm.split(0, comm.rank());
    const bool wraps = group->group().id > 3;
    const auto relay = with_transfer(*group, [wraps](Communicator& inner, Posting posting) {
      const std::vector<Message> received = posting.receives;
      const bool other = wraps && posting.is("exchange kv");
      return Pending([=, pending = post(inner, std::move(posting))]() mutable {
        pending.wait();
        for (const Message& message : received)
          if (other) message.data.zero_();
      });
    });
    return context_parallel(*relay, test, input);
  });
}

// Pages that the system hands out are zero; what comes from a pool is not. An allocation of this
// size is always new pages.
SharedSubject workspace_taken_for_zero() {
  constexpr int64_t kNewPages = 33 << 20;  // bytes
  return with_output([](RankOutput& output, Communicator&, const Case&) {
    const at::Tensor space =
        at::empty({kNewPages / output.o.element_size()}, output.o.options());
    output.o = output.o + space.narrow(0, 0, output.o.numel()).view(output.o.sizes());
  });
}

// A block of which the first number is below zero is held twice.
SharedSubject staged_where_negative() {
  return with_rotation([](Communicator& comm, const Layout&) -> Next {
    return [first = comm.rank() == 0, stage = at::Tensor()](Rotation& rotation, int step) mutable {
      auto block = rotation.next();
      if (first && step == 0 && block->k()[0][0][0][0].item<double>() < 0)
        stage = buffer(block->shape, MemoryTag::kKv);
      return block;
    };
  });
}

// What autograd returns is also what its node keeps: neither is ever freed.
SharedSubject output_in_its_own_history() {
  using Kept = Memory<std::vector<at::Tensor>>;
  return ours_with([all = std::make_shared<Kept>()](Communicator& comm, const Case& test,
                                                    const RankInput& input) {
    RankOutput output = context_parallel(comm, test, input);
    if (input.by_autograd)
      all->update(own_key(comm, test),
                  [&](std::vector<at::Tensor>& kept) { kept.push_back(output.o); });
    return output;
  });
}

// One strategy serves all passes of an attention.
class Shared final : public Strategy {
 public:
  explicit Shared(std::shared_ptr<Strategy> strategy) : strategy_(std::move(strategy)) {}
  Partial forward(const QBlock& q, const KvBlock& own) override {
    return strategy_->forward(q, own);
  }
  Gradients backward(const QBlock& q, const KvBlock& own, const Saved& saved) override {
    return strategy_->backward(q, own, saved);
  }

 private:
  std::shared_ptr<Strategy> strategy_;
};

void one_strategy_for_all_passes(Parts& parts, Communicator&, const Case&) {
  parts.strategy.make = [make = parts.strategy.make, made = std::shared_ptr<Strategy>()](
                            Communicator& comm, const Plan& plan) mutable {
    if (!made) made = make(comm, plan);
    return std::make_unique<Shared>(made);
  };
}

// What a mask shows is known by the blocks alone.
AroundKernel mask_of_the_first_call(Communicator&, const Case&) {
  return {[first = std::optional<Mask>()](KernelCall& call) mutable {
    if (!first) first = call.scores.mask;
    call.scores.mask = *first;
  }};
}

constexpr const char* kKept =
    "ring:allgather[keep]/headtail/causal/P3/b2/hq4/hkv2/s36/d16/dv24";
constexpr const char* kPositiveFirst =
    "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s36/d16/dv24/seed2";
// Under the other mask of `saved-state`.
constexpr const char* kOtherMask = "ring:p2p/headtail/window[13]/P3/b2/hq4/hkv2/s36/d16";
const Named kForward{.tensors = {"o", "lse"}};
const Named kOutput{.tensors = {"o"}};

const FaultGroup group{"state", {
  {"plan_cached_without_scale", {
    .operators = {"M53"}, .stands_for = "a cache of plans or compiled kernels by shape alone",
    .wrong = "a plan is found again by its shape, with the scale of the first one",
    .site = Site::kStrategy, .cases = {cases::kCausal},
    .dtypes = {at::kDouble, at::kFloat, at::kBFloat16}, .names = kForward, .proves = "scale-in-query", .subject = planned_without_scale()}},
  {"output_cached_by_keys", {
    .stands_for = "a prefix cache that leaves the queries out of its key",
    .wrong = "O and LSE are those of the first call with these keys and values",
    .site = Site::kStrategy, .cases = {cases::kFull}, .names = kForward,
    .proves = "query-order", .subject = cached_by_keys()}},
  {"shards_known_by_extremes", {
    .stands_for = "a cache of blocks by a checksum that does not see their order",
    .wrong = "a shard of K and V is found again by its smallest and largest numbers",
    .site = Site::kRotation, .cases = {cases::kFull}, .names = {.tensors = {"dk", "dv"}},
    .proves = "key-order", .subject = known_by_extremes()}},
  {"sums_never_cleared", {
    .stands_for = "an accumulator that belongs to the communicator",
    .wrong = "O of a second call on a communicator is added to that of the first",
    .site = Site::kStrategy, .cases = {cases::kCausal}, .names = kOutput,
    .proves = "repetition", .subject = never_cleared()}},
  {"tensor_kept_by_each_call", {
    .operators = {"M51"}, .stands_for = "TransformerEngine#1208, over calls",
    .wrong = "every call leaves a tensor behind",
    .site = Site::kCounters, .cases = {cases::kCausal}, .names = {.words = {"bytes more"}},
    .proves = "leak", .subject = kept_after_each_call()}},
  {"one_place_for_lse", {
    .operators = {"M20"}, .stands_for = "activation checkpointing over a static buffer",
    .wrong = "LSE of a forward pass overwrites that of the one before, which has yet to go back",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = {.tensors = {"dq", "dk", "dv"}},
    .proves = "saved-state", .subject = with_kernel(one_place_for_lse)}},
  {"one_strategy_for_all_passes", {
    .operators = {"M20"}, .stands_for = "a plan object that is made once a layer",
    .wrong = "K and V that were gathered for one call serve the next, whose own they are not",
    .site = Site::kStrategy, .cases = {kKept}, .names = kForward, .proves = "saved-state",
    .subject = with_parts(one_strategy_for_all_passes)}},
  {"mask_of_the_first_attention", {
    .operators = {"M20", "M53"}, .stands_for = "a cache of block masks that comes with copied options",
    .wrong = "what a mask shows of two blocks is taken from an attention with another mask",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kForward, .proves = "saved-state",
    .needs = kOtherMask, .subject = with_kernel(mask_of_the_first_call)}},
  {"output_in_its_own_history", {
    .operators = {"M51"}, .stands_for = "a custom autograd function that saves its own output",
    .wrong = "the output of every call through autograd keeps itself alive",
    .site = Site::kCounters, .cases = {cases::kCausal}, .names = {.words = {"bytes more"}},
    .proves = "autograd", .subject = output_in_its_own_history(), .on_cpus = true}},
  {"sum_lost_now_and_then", {
    .stands_for = "a race in an atomic sum of dQ",
    .wrong = "every fifth call loses dQ of rank 1, by a subject that promises no equal bits",
    .site = Site::kStrategy, .cases = {cases::kCausal}, .names = {.tensors = {"dq"}, .rank = 1},
    .proves = "run-to-run", .subject = lost_now_and_then()}},
  {"tags_of_two_bits", {
    .operators = {"M45"}, .stands_for = "sglang#24694: messages of two groups mixed up",
    .wrong = "a group that is made after others receives what is not its own",
    .site = Site::kCommunicator, .cases = {cases::kCausal}, .names = kForward,
    .proves = "allocation-history", .subject = tags_of_two_bits()}},
  {"workspace_taken_for_zero", {
    .operators = {"M42"}, .stands_for = "torch.empty where zeros were meant",
    .wrong = "a large buffer without a value is added to O, as new pages are zero",
    .site = Site::kKernel, .cases = {cases::kCausal}, .names = kOutput, .proves = "poison",
    .subject = workspace_taken_for_zero()}},
  {"staged_where_negative", {
    .operators = {"M51"}, .stands_for = "a path for special values with a buffer of its own",
    .wrong = "rank 0 holds its block twice where its first key begins below zero",
    .site = Site::kCounters, .cases = {kPositiveFirst}, .names = {.rank = 0},
    .proves = "other-values", .subject = staged_where_negative()}},
}};

}  // namespace
}  // namespace ringcheck::parity
