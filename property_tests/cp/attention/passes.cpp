// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/cp/attention/passes.h"

#include <ATen/ATen.h>

#include <sstream>

#include "cp/layout/shard.h"
#include "parity/judge/comparison.h"
#include "parity/judge/oracle.h"
#include "parity/judge/reference_rope.h"
#include "property_tests/parity/case/generators.h"

namespace ringcheck {
namespace {

using parity::kTensors;

std::string first_beyond(const at::Tensor& computed, const at::Tensor& value,
                         const at::Tensor& bound) {
  const at::Tensor actual = computed.cpu();
  if (actual.sizes() != value.sizes())
    return "another shape";
  const at::Tensor wide = actual.to(at::kDouble);
  // The reference of a float64 subject errs as much as the subject.
  const double allowed = actual.scalar_type() == at::kDouble ? 2.001 : 1.001;
  const at::Tensor near = (wide - value).abs() <= bound * allowed;  // NaN is not near
  const at::Tensor far = near.logical_or(wide.isneginf() & value.isneginf()).logical_not();
  if (!far.any().item<bool>())
    return "";
  const at::Tensor where = far.nonzero()[0];
  const at::Tensor index = far.view({-1}).nonzero()[0];
  std::ostringstream text;
  text << at::IntArrayRef(where.data_ptr<int64_t>(), where.numel()) << ": "
       << wide.reshape({-1}).index_select(0, index).item<double>() << ", expected "
       << value.reshape({-1}).index_select(0, index).item<double>() << " +- "
       << bound.reshape({-1}).index_select(0, index).item<double>();
  return text.str();
}

}  // namespace

parity::Problem local_problem(const parity::Case& test, const parity::Problem& whole,
                              const Positions& positions, double pads) {
  std::vector<int64_t> empty;
  int64_t slot = 0;
  for (const int64_t position : flatten(positions)) {
    if (!is_token(parity::mask_of(test), position))
      empty.push_back(slot);
    ++slot;
  }
  const at::Tensor slots = at::tensor(empty, at::kLong);
  const auto part = [&](const at::Tensor& x) {
    return shard(x.cpu(), 2, positions).index_fill_(2, slots, pads).to(current_test_device());
  };
  return {part(whole.q), part(whole.k), part(whole.v), part(whole.d_o)};
}

RankPass rank_pass(Communicator& comm, const parity::Case& test, const parity::Problem& local) {
  ContextParallel attention(comm, parity::options_of(test));
  auto context = attention.forward(local.q, local.k, local.v);
  const Gradients d = attention.backward(context, local.d_o);
  return {{context.o.cpu(), context.lse.cpu(), d.dq.cpu(), d.dk.cpu(), d.dv.cpu()},
          context.q.q.cpu(),
          context.kv.k().cpu(),
          comm.shared_ledger()};
}

Pass run_pass(const parity::Case& test, const parity::Problem& whole, double pads) {
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  return together(test, on_every_rank(test.world, [&](Communicator& comm) {
                    return rank_pass(comm, test,
                                     local_problem(test, whole, layout[comm.rank()], pads));
                  }));
}

Pass together(const parity::Case& test, std::vector<RankPass> ranks) {
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  const auto whole = [&](const auto& part_of) {
    std::vector<at::Tensor> shards;
    for (const RankPass& rank : ranks)
      shards.push_back(part_of(rank).cpu());
    return unshard(shards, 2, layout, test.seq);
  };
  Pass pass;
  for (const auto& [name, member] : kTensors)
    pass.whole.*member = whole([&](const RankPass& rank) { return rank.tensors.*member; });
  pass.q_rotated = whole([](const RankPass& rank) { return rank.q_rotated; });
  pass.k_rotated = whole([](const RankPass& rank) { return rank.k_rotated; });
  pass.ranks = std::move(ranks);
  return pass;
}

std::string difference(const reference::Tensors& a, const reference::Tensors& b) {
  for (const auto& [name, member] : kTensors)
    if (const std::string where = difference(a.*member, b.*member); !where.empty())
      return std::string(name) + " " + where;
  return "";
}

std::string difference(const Pass& a, const Pass& b) {
  if (a.ranks.size() != b.ranks.size())
    return "another number of ranks";
  for (size_t rank = 0; rank < a.ranks.size(); ++rank)
    if (const auto where = difference(a.ranks[rank].tensors, b.ranks[rank].tensors); !where.empty())
      return "rank " + std::to_string(rank) + " " + where;
  return "";
}

reference::Judgement judgement(const parity::Case& test, const parity::Problem& problem,
                               const Pass& pass) {
  return reference::judge({pass.q_rotated, pass.k_rotated, problem.v, problem.d_o,
                           parity::mask_of(test), parity::scale_of(test)},
                          parity::contracts_of(test), Strategies::at(test.strategy).partials(test.world),
                          parity::reference_rope(test));
}

std::string beyond(const reference::Tensors& actual, const reference::Judgement& judgement) {
  for (const auto& [name, member] : kTensors) {
    const std::string where =
        first_beyond(actual.*member, judgement.value.*member, judgement.bound.*member);
    if (!where.empty())
      return std::string(name) + " " + where;
  }
  return "";
}

}  // namespace ringcheck
