// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/decorators/strategy.h"

#include <ATen/ATen.h>

namespace ringcheck::parity {
namespace {

class Changed final : public Strategy {
 public:
  Changed(std::unique_ptr<Strategy> strategy, AroundStrategy around, int world)
      : strategy_(std::move(strategy)), around_(std::move(around)), world_(world) {}

  Partial forward(const QBlock& q, const KvBlock& own) override {
    Partial part = strategy_->forward({changed(around_.q, q.q), q.positions}, own);
    return {changed(around_.o, part.out), changed(around_.lse, part.lse)};
  }
  Gradients backward(const QBlock& q, const KvBlock& own, const Saved& saved) override {
    const Saved given{changed(around_.d_o, saved.o), changed(around_.d_o, saved.lse), {}, changed(around_.d_o, saved.d_o)};
    Gradients sum = strategy_->backward({changed(around_.q, q.q), q.positions}, own, given);
    return {changed(around_.dq, sum.dq), changed(around_.dk, sum.dk), sum.dv};
  }

 private:
  at::Tensor changed(const AroundStrategy::Change& change, const at::Tensor& x) const {
    return change ? change(x, world_).contiguous() : x;
  }

  std::unique_ptr<Strategy> strategy_;
  AroundStrategy around_;
  int world_;
};

}  // namespace

SharedSubject with_around_strategy(AroundStrategy around) {
  return with_parts([=](Parts& parts, Communicator&, const Case&) {
    parts.strategy.make = [=, make = parts.strategy.make](Communicator& comm, const Plan& plan) {
      return std::make_unique<Changed>(make(comm, plan), around, comm.size());
    };
  });
}

SharedSubject in_order_of(std::function<std::vector<Positions>(const Layout&)> shards) {
  return with_parts([=](Parts& parts, Communicator&, const Case&) {
    parts.strategy.make = [=, make = parts.strategy.make](Communicator& comm, const Plan& plan) {
      Plan other = plan;
      other.layout = Layout::of_both(shards(plan.layout));
      return make(comm, other);
    };
  });
}

std::vector<Positions> one_after_the_other(const Layout& layout) {
  std::vector<Positions> shards;
  int64_t begin = 0;
  for (const Positions& held : layout.queries) {
    shards.push_back({{begin, count(held)}});
    begin += count(held);
  }
  return shards;
}

SharedSubject with_labelled(const char* label, std::function<Pending(Communicator&, Posting)> way) {
  return with_transfers([=](Communicator&) {
    return [=](Communicator& comm, Posting posting) {
      return posting.is(label) ? way(comm, std::move(posting)) : post(comm, std::move(posting));
    };
  });
}

Pending peers_mixed_up(Communicator& comm, Posting posting) {
  auto& first = posting.receives[0];
  for (Message& other : posting.receives)
    if (other.peer != first.peer && other.data.sizes() == first.data.sizes()) {
      std::swap(first.data, other.data);
      break;
    }
  return post(comm, std::move(posting));
}

}  // namespace ringcheck::parity
