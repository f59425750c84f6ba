// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/against_reference.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <numeric>

#include "parity/judge/device_test.h"
#include "parity/judge/devices/on_devices.h"
#include "parity/judge/reference_rope.h"
#include "parity/judge/sampling.h"
#include "parity/judge/truth.h"
#include "reference/tiles/tiling.h"

namespace ringcheck::parity {

bool is_of_keys(const NamedTensor& named) {
  return named.tensor == &reference::Tensors::dk || named.tensor == &reference::Tensors::dv;
}

std::vector<int64_t> shape_of(const NamedTensor& named, const Case& test) {
  const int64_t heads = is_of_keys(named) ? test.kv_heads : test.q_heads;
  std::vector<int64_t> shape{test.batch, heads, test.seq};
  const bool as_v =
      named.tensor == &reference::Tensors::o || named.tensor == &reference::Tensors::dv;
  if (named.tensor != &reference::Tensors::lse) shape.push_back(as_v ? test.dim_v : test.dim);
  return shape;
}

namespace {

// Who shares the work. Where the float64 copies of a single pair are gigabytes, each GPU has one of
// them at a time.
std::vector<at::Device> shared_by(const reference::Inputs& in) {
  constexpr int64_t kMostOfPair = 1 << 27;  // elements of q and dO
  const int64_t pairs = in.k.size(0) * in.k.size(1);
  const bool small = (in.q.numel() + in.d_o.numel()) / pairs <= kMostOfPair;
  return small ? lanes_from(in.q.device()) : devices_from(in.q.device());
}

}  // namespace

AgainstReference::AgainstReference(const Evidence& evidence)
    : evidence_(evidence), inputs_(inputs_of(evidence.test, evidence.problem, evidence.outcome)) {
  const Case& test = evidence.test;
  for (const NamedTensor& named : kTensors) {
    const at::Tensor& actual = evidence.outcome.tensors.*named.tensor;
    comparable_.push_back(actual.defined() && actual.sizes() == shape_of(named, test));
  }
  queries_ = keys_ = flatten({{0, test.seq}});
  if (!sampled()) return;
  queries_ = drawn_positions(test.seq, evidence.sample, test.seed);
  const bool given = comparable_[0] && comparable_[1];  // O and LSE
  keys_ = given ? drawn_positions(test.seq, evidence.sample, ~test.seed) : std::vector<int64_t>();
}

std::vector<Tally> AgainstReference::operator()() const {
  const reference::Judge judge = judge_of_all();
  const std::vector<reference::Range> runs = judge.runs();
  std::vector<std::vector<Tally>> parts(runs.size());
  on_devices(shared_by(inputs_), static_cast<int64_t>(runs.size()),
             [&](int64_t i, at::Device device) {
               parts[i] = tallies(runs[i], judge(runs[i], device));
             });
  std::vector<Tally> sums(std::size(kTensors));
  for (const auto& part : parts)
    for (size_t i = 0; i < sums.size(); ++i) sums[i].add(part[i]);
  for (size_t i = 0; i < sums.size(); ++i)
    if (comparable_[i] && judged(i)) demand_whole(kTensors[i], sums[i]);
  return sums;
}

// However the work was cut, every element was compared.
void AgainstReference::demand_whole(const NamedTensor& named, const Tally& sum) const {
  const auto compared = std::accumulate(sum.compared.begin(), sum.compared.end(), 0.0);
  const auto slots = static_cast<int64_t>((is_of_keys(named) ? keys_ : queries_).size());
  const auto due = (evidence_.outcome.tensors.*named.tensor).numel() / std::max<int64_t>(1, evidence_.test.seq) * slots;
  if (compared != static_cast<double>(due))
    throw SelfTestFailed(c10::str("self-test: the judge compared ", compared, " of ", due,
                                  " elements of ", named.name));
}

reference::Judge AgainstReference::judge_of_all() const {
  reference::Tiling tiling =
      reference::tiling_for(inputs_, static_cast<int64_t>(shared_by(inputs_).size()));
  tiling.tick = [this] {
    const std::lock_guard lock(ticking_);
    evidence_.tick();
  };
  std::optional<reference::Sample> sample;
  const auto& found = evidence_.outcome.tensors;
  if (sampled()) sample = {queries_, keys_, found.o, found.lse};
  const Promise promise = evidence_.promise();
  return {inputs_, promise.contracts(), promise.partials,
          reference_rope(evidence_.test, promise), tiling, sample};
}

std::vector<Tally> AgainstReference::tallies(reference::Range run,
                                             const reference::Judgement& truth) const {
  std::vector<Tally> list;
  for (size_t i = 0; i < std::size(kTensors); ++i)
    list.push_back(comparable_[i] && judged(i) ? tally_of(kTensors[i], run, truth) : Tally());
  return list;
}

Tally AgainstReference::tally_of(const NamedTensor& named, reference::Range run,
                                 const reference::Judgement& truth) const {
  const std::vector<int64_t>& positions = is_of_keys(named) ? keys_ : queries_;
  const at::Tensor slots = sampled() ? at::tensor(positions, at::kLong) : at::Tensor();
  const auto by_group = [&](const reference::Tensors& tensors) {
    const at::Tensor& x = tensors.*named.tensor;
    return is_of_keys(named) ? x.unsqueeze(1) : x;
  };
  const at::Tensor actual = reference::rows_of_pairs(evidence_.outcome.tensors.*named.tensor,
                                                     inputs_, run, slots);
  at::Tensor sigma = by_group(truth.sigma);
  if (named.tensor == &reference::Tensors::lse)
    sigma = sigma * spread_of_lse(evidence_.test, positions).to(sigma.device());
  return tally({actual, by_group(truth.value), by_group(truth.bound), sigma, run.begin, positions},
               evidence_.test.seq);
}

}  // namespace ringcheck::parity
