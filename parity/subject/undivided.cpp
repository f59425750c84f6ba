// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// The subject "undivided[KERNEL]": the whole sequence on one rank, cut afterwards. What
// context parallelism is compared with.
#include <ATen/ATen.h>

#include <cmath>

#include "cp/layout/shard.h"
#include "cp/worlds/thread_world.h"
#include "parity/case/text.h"
#include "parity/subject/ours.h"

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
    promise.separate_passes = promise.autograd = false;
    promise.charts.clear();
    return promise;
  }

  std::vector<RankOutput> solve(const Case& test,
                                const std::vector<RankInput>& inputs) const override {
    const Case one = alone(test);
    const std::vector<Positions> layout = layout_of(test).queries;
    const auto whole = [&](at::Tensor Problem::*tensor) {
      std::vector<at::Tensor> shards;
      for (const RankInput& input : inputs) shards.push_back(input.local.*tensor);
      return shard(unshard(shards, 2, layout, test.seq), 2, layout_of(one).queries.front());
    };
    const RankInput all{{whole(&Problem::q), whole(&Problem::k), whole(&Problem::v),
                         whole(&Problem::d_o)},
                        layout_of(one).queries.front()};
    RankOutput output;
    ringcheck::run(ThreadWorld{1, kDeadline, {}, device_type_of(test)},
        [&](Communicator& comm) { output = context_parallel(comm, one, all); });
    std::vector<RankOutput> ranks;
    for (size_t rank = 0; rank < inputs.size(); ++rank)
      ranks.push_back(cut(output, layout[rank], test.seq));
    return ranks;
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

  // The slots of a rank; those behind the end are empty.
  static RankOutput cut(const RankOutput& all, const Positions& positions, int64_t length) {
    const auto piece = [&](const at::Tensor& x) {
      return x.defined() ? shard(x.narrow(2, 0, length), 2, positions) : x;
    };
    RankOutput own{piece(all.o),  piece(all.lse), piece(all.dq), piece(all.dk),
                   piece(all.dv), piece(all.q_rotated), piece(all.k_rotated), {}};
    int64_t slot = 0;
    for (const int64_t position : flatten(positions)) {
      if (position >= length) own.lse.select(2, slot).fill_(-INFINITY);
      ++slot;
    }
    return own;
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
