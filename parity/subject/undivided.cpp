// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// The subject "undivided[KERNEL]": the whole sequence on one rank, cut afterwards. What
// context parallelism is compared with.
#include "cp/layout/shard.h"
#include "cp/worlds/thread_world.h"
#include "parity/case/text.h"
#include "parity/subject/ours.h"
#include "parity/subject/whole.h"

namespace ringcheck::parity {
namespace {

constexpr std::chrono::minutes kDeadline{30};  // there is no other rank to wait for

class Undivided final : public WholeSubject {
 public:
  explicit Undivided(std::string kernel) : kernel_(std::move(kernel)) {
    known_name("kernel", kernel_, AttentionKernels::all());
  }

  std::optional<std::string> refuses(const Case& test) const override {
    return not_supported(alone(test));
  }

  Promise promise(const Case& test) const override {
    Promise promise = ours()->promise(alone(test));
    promise.counts.clear();
    promise.by_strategy = false;
    promise.separate_passes = promise.autograd = promise.any_layout = false;
    promise.charts.clear();
    return promise;
  }

  std::vector<RankOutput> solve(const Case& test,
                                const std::vector<RankInput>& inputs) const override {
    const Case one = alone(test);
    const Positions all = layout_of(one).queries.front();
    const Problem whole = gathered(test, inputs);
    const auto padded = [&](const at::Tensor& x) { return shard(x, 2, all); };
    const RankInput input{
        {padded(whole.q), padded(whole.k), padded(whole.v), padded(whole.d_o)}, all};
    RankOutput output;
    ringcheck::run(ThreadWorld{1, kDeadline, {}, device_type_of(test)},
        [&](Communicator& comm) { output = context_parallel(comm, one, input); });
    return scattered(test, output);
  }

 private:
  Case alone(Case test) const {
    test.subject = Method::kOurs;
    test.strategy = Case{}.strategy;
    test.arguments = Case{}.arguments;
    test.balance = "contiguous";
    test.block = 1;
    test.kernel = kernel_;
    test.world_kind = "thread";
    test.world = 1;
    return test;
  }

  std::string kernel_;
};

const Subjects::Add registered{"undivided", [](const std::vector<std::string>& arguments) {
  if (arguments.size() > 1)
    throw BadCase("subject undivided takes one kernel, for example undivided[plain]; got " +
                  std::to_string(arguments.size()) + " arguments");
  return std::make_shared<Undivided>(arguments.empty() ? Case{}.kernel : arguments.front());
}};

}  // namespace
}  // namespace ringcheck::parity
