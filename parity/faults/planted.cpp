// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/planted.h"

#include <ATen/ATen.h>

#include <map>
#include <random>
#include <utility>

namespace ringcheck::parity {
namespace {

// The index of one of those elements that are as large as the root mean square.
int64_t large_element(const at::Tensor& x, std::mt19937_64& random) {
  const at::Tensor finite = x.to(at::kDouble).masked_fill(x.isinf(), 0).flatten();
  const double rms = std::sqrt(finite.square().mean().item<double>());
  const at::Tensor large = finite.abs().ge(rms).nonzero().flatten();
  return large[static_cast<int64_t>(random() % static_cast<uint64_t>(large.numel()))]
      .item<int64_t>();
}

void mark_positions(const at::Tensor& where, const Positions& positions) {
  for (const int64_t position : flatten(positions))
    if (position < where.size(2)) where.select(2, position).fill_(true);
}

using Edit = std::function<void(ContextParallel::Options&, Communicator&, double epsilon)>;

// What the last rank holds before its first merge was not divided by its whole sum: its LSE says so,
// too. On one rank, which merges nothing, this shows nothing.
void wrong_normaliser(ContextParallel::Options& options, Communicator& comm, double epsilon) {
  if (comm.rank() != comm.size() - 1) return;
  options.plan.merge = [epsilon, merge = options.plan.merge, first = true](
                           at::ScalarType out, const Partial& a, const Partial& b) mutable {
    if (!std::exchange(first, false)) return merge(out, a, b);
    const at::Tensor wide = a.out.to(accumulation_type(a.out.scalar_type()));
    return merge(out, {wide / (1 + epsilon), a.lse + std::log1p(epsilon)}, b);
  };
}

// The weight of the later of two parts, on every rank.
void wrong_weight(ContextParallel::Options& options, Communicator&, double epsilon) {
  options.plan.merge = [epsilon, merge = options.plan.merge](at::ScalarType out, const Partial& a, const Partial& b) {
    return merge(out, a, {b.out, b.lse + std::log1p(epsilon)});
  };
}

const std::map<std::string, Edit>& edits() {
  static const std::map<std::string, Edit> table{
      {"softmax scale", [](auto& options, auto&, double e) { options.plan.scores.scale *= 1 + e; }},
      {"merge weight", wrong_weight},
      {"normaliser of one rank", wrong_normaliser},
      {"all gradients", [](auto&, auto&, double) {}}};
  return table;
}

}  // namespace

const std::vector<std::string>& plant_scopes() {
  static const std::vector<std::string> scopes{"element", "row", "chunk", "rank", "tensor"};
  return scopes;
}

at::Tensor planted_where(const Case& test, const at::Tensor& x, const std::string& scope) {
  std::mt19937_64 random(test.seed);
  const at::Tensor where = at::zeros(x.sizes(), at::kBool);
  if (scope == "tensor") return where.fill_(true);
  if (scope == "element" || scope == "row") {
    const int64_t at = large_element(x, random);
    const at::Tensor rows = where.view({x.size(0) * x.size(1) * x.size(2), -1});
    if (scope == "row") rows.select(0, at / rows.size(1)).fill_(true);
    else where.flatten()[at] = true;
    return where;
  }
  const std::vector<Positions> layout = layout_of(test).queries;
  const Positions& shard = layout.at(random() % layout.size());
  mark_positions(where, scope == "rank" ? shard : Positions{shard.at(random() % shard.size())});
  return where;
}

at::Tensor planted(const at::Tensor& x, const at::Tensor& where, double epsilon) {
  return at::where(where, (x.to(at::kDouble) * (1 + epsilon)).to(x.scalar_type()), x);
}

const std::vector<std::string>& inner_plants() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto& [name, edit] : edits()) list.push_back(name);
    return list;
  }();
  return names;
}

SharedSubject slightly_wrong(const std::string& what, double epsilon) {
  return ours_with([edit = edits().at(what), gradients = what == "all gradients", epsilon](
             Communicator& comm, const Case& test, const RankInput& input) {
    ContextParallel::Options options = options_of(test);
    edit(options, comm, epsilon);
    RankOutput output = context_parallel_with(options, comm, test, input);
    if (!gradients) return output;
    for (at::Tensor* x : {&output.dq, &output.dk, &output.dv})
      *x = (x->to(at::kDouble) * (1 + epsilon)).to(x->scalar_type());
    return output;
  });
}

}  // namespace ringcheck::parity
