// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/against_reference.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "parity/judge/device_test.h"
#include "parity/judge/devices/on_devices.h"
#include "parity/judge/reference_rope.h"
#include "parity/judge/sampling.h"
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

// What a GPU holds of a pair in float64: inputs, results and their errors, the sums of keys, and tiles.
double bytes_of_pair(const reference::Inputs& in, bool sampled) {
  constexpr double kOfQueries = 8, kOfKeys = 25, kOfSampled = 6;  // arrays of their tokens and channels
  constexpr double kTiles = 5.0 * (1 << 30);
  const auto pairs = static_cast<double>(in.k.size(0) * in.k.size(1));
  const double queries = static_cast<double>(std::max(in.q.numel(), in.d_o.numel())) / pairs;
  const double keys = static_cast<double>(std::max(in.k.numel(), in.v.numel())) / pairs;
  const double numbers = sampled ? std::max(kOfKeys * keys, kOfSampled * queries) : kOfQueries * queries + kOfKeys * keys;
  return kTiles + sizeof(double) * numbers;
}

// Who shares the work. Where the float64 copies of a single pair are gigabytes, each GPU has one of
// them at a time, and one that inputs and results leave no room for has none.
std::vector<at::Device> shared_by(const reference::Inputs& in, bool sampled) {
  constexpr int64_t kMostOfPair = 1 << 27;  // elements of q and dO
  const int64_t pairs = in.k.size(0) * in.k.size(1);
  const bool small = (in.q.numel() + in.d_o.numel()) / pairs <= kMostOfPair;
  const at::Device first = in.q.device();
  if (small || first.is_cpu()) return lanes_from(first);
  return having(devices_from(first), bytes_of_pair(in, sampled), spare_memory);
}

// The number of the first (batch, kv head) pair of these entries among those of the case.
int64_t first_pair(const Case& test, const Entries& entries) { return entries.first * test.kv_heads; }

}  // namespace

AgainstReference::AgainstReference(const Evidence& evidence)
    : evidence_(evidence), inputs_(inputs_of(evidence.test, evidence.problem, evidence.outcome)),
      kept_(sampled() ? "" : evidence.kept, evidence.test, evidence.promise()) {
  const Case& test = evidence.test;
  for (const NamedTensor& named : kTensors)
    comparable_.push_back(found(named).defined() && found(named).sizes() == shape_of(named, test));
  given_ = comparable_[0] && comparable_[1];
  for (EntriesOfInputs& some : by_entries(test, inputs_)) parts_.push_back(part_of(std::move(some)));
}

AgainstReference::Part AgainstReference::part_of(EntriesOfInputs some) const {
  const int64_t length = some.entries.mask.length;
  const uint64_t seed = evidence_.test.seed;
  Part part{std::move(some), sampled() && evidence_.sample < length, {}, {}};
  part.queries = part.keys = flatten({{0, length}});
  if (!part.sampled) return part;
  part.queries = drawn_positions(length, evidence_.sample, seed);
  part.keys = given_ ? drawn_positions(length, evidence_.sample, ~seed) : std::vector<int64_t>();
  return part;
}

at::Tensor AgainstReference::Part::tokens(const at::Tensor& x) const {
  return x.narrow(0, of.entries.first, of.entries.count).narrow(2, 0, of.entries.mask.length);
}

at::Tensor AgainstReference::Part::pads(const at::Tensor& x) const {
  const int64_t length = of.entries.mask.length;
  return x.narrow(0, of.entries.first, of.entries.count).narrow(2, length, x.size(2) - length);
}

std::vector<Tally> AgainstReference::operator()() const {
  struct Work {
    const Part* part;
    size_t judge;
    reference::Range run;
  };
  const std::vector<at::Device> devices = shared_by(inputs_, sampled());
  std::vector<reference::Judge> judges;
  std::vector<Work> list;
  for (const Part& part : parts_) {
    if (part.queries.empty()) continue;  // entries without a token
    judges.push_back(judge_of(part, static_cast<int64_t>(devices.size())));
    for (const reference::Range run : judges.back().runs())
      list.push_back({&part, judges.size() - 1, run});
  }
  std::vector<std::vector<Tally>> tallies(list.size());
  on_devices(devices, static_cast<int64_t>(list.size()), [&](int64_t i, at::Device device) {
    const Work& work = list[i];
    // Two entries may hold the same bits.
    const reference::Range pairs{first_pair(evidence_.test, work.part->of.entries) + work.run.begin, work.run.size};
    const reference::Judge& judge = judges[work.judge];
    tallies[i] = kept_(pairs, judge.tiling(), [&] { return bits_of(*work.part, work.run); }, [&] {
      const reference::Judgement truth = judge(work.run, device);
      return of_each([&](const NamedTensor& named) { return tally_of(named, *work.part, work.run, truth); });
    });
  });
  for (const Part& part : parts_)
    if (part.of.entries.mask.length < evidence_.test.seq)
      tallies.push_back(of_each([&](const NamedTensor& named) { return tally_of_pads(named, part); }));
  std::vector<Tally> sums(std::size(kTensors));
  for (const auto& some : tallies)
    for (size_t i = 0; i < sums.size(); ++i) sums[i].add(some[i]);
  for (size_t i = 0; i < sums.size(); ++i)
    if (comparable_[i] && judged(i)) demand_whole(kTensors[i], sums[i]);
  return sums;
}

// However the work was cut, every element was compared.
void AgainstReference::demand_whole(const NamedTensor& named, const Tally& sum) const {
  const auto compared = std::accumulate(sum.compared.begin(), sum.compared.end(), 0.0);
  const at::Tensor& x = found(named);
  int64_t due = 0;
  for (const Part& part : parts_) {
    const auto slots = std::ssize(part.positions(named)) + x.size(2) - part.of.entries.mask.length;
    due += part.of.entries.count * slots * x[0].select(1, 0).numel();
  }
  if (compared != static_cast<double>(due))
    throw SelfTestFailed(c10::str("self-test: the judge compared ", compared, " of ", due,
                                  " elements of ", named.name));
}

reference::Judge AgainstReference::judge_of(const Part& part, int64_t threads) const {
  reference::Tiling tiling = reference::tiling_for(part.of.inputs, threads);
  tiling.tick = [this] {
    const std::lock_guard lock(ticking_);
    evidence_.tick();
  };
  std::optional<reference::Sample> sample;
  const auto given = [&](const at::Tensor& x) { return given_ ? part.tokens(x) : x; };
  const auto& tensors = evidence_.outcome.tensors;
  if (part.sampled) sample = {part.queries, part.keys, given(tensors.o), given(tensors.lse)};
  const Promise promise = evidence_.promise();
  return {part.of.inputs, promise.contracts(), promise.merged(),
          reference_rope(evidence_.test, promise), tiling, sample};
}

std::vector<Tally> AgainstReference::of_each(
    const std::function<Tally(const NamedTensor&)>& tally_of) const {
  std::vector<Tally> list;
  for (size_t i = 0; i < std::size(kTensors); ++i)
    list.push_back(comparable_[i] && judged(i) ? tally_of(kTensors[i]) : Tally());
  return list;
}

std::vector<at::Tensor> AgainstReference::bits_of(const Part& part, reference::Range run) const {
  const reference::Inputs& in = part.of.inputs;
  std::vector<at::Tensor> bits;
  for (const at::Tensor& x : {in.q, in.k, in.v, in.d_o}) bits.push_back(reference::rows_of_pairs(x, in, run, {}));
  for (size_t i = 0; i < std::size(kTensors); ++i)
    bits.push_back(comparable_[i] ? reference::rows_of_pairs(part.tokens(found(kTensors[i])), in, run, {}) : at::Tensor());
  return bits;
}

Tally AgainstReference::tally_of(const NamedTensor& named, const Part& part, reference::Range run,
                                 const reference::Judgement& truth) const {
  const std::vector<int64_t>& positions = part.positions(named);
  const at::Tensor slots = part.sampled ? at::tensor(positions, at::kLong) : at::Tensor();
  const auto by_group = [&](const reference::Tensors& tensors) {
    const at::Tensor& x = tensors.*named.tensor;
    return is_of_keys(named) ? x.unsqueeze(1) : x;
  };
  const at::Tensor actual =
      reference::rows_of_pairs(part.tokens(found(named)), part.of.inputs, run, slots);
  at::Tensor sigma = by_group(truth.sigma);
  if (named.tensor == &reference::Tensors::lse)
    sigma = sigma * spread_of_lse(evidence_.test, part.of.entries.first, positions).to(sigma.device());
  return tally({actual, by_group(truth.value), by_group(truth.bound), sigma,
                first_pair(evidence_.test, part.of.entries) + run.begin, positions},
               evidence_.test.seq);
}

// LSE is -inf there, everything else 0.
Tally AgainstReference::tally_of_pads(const NamedTensor& named, const Part& part) const {
  const int64_t pairs = part.of.entries.count * evidence_.test.kv_heads, seq = evidence_.test.seq;
  const int64_t length = part.of.entries.mask.length;
  const at::Tensor found_there = part.pads(found(named));
  auto sizes = found_there.sizes().vec();
  sizes[1] = sizes[0] * sizes[1] / pairs;
  sizes[0] = pairs;
  const at::Tensor actual = found_there.reshape(sizes);
  const at::Tensor none = at::zeros(sizes, actual.options().dtype(at::kDouble));
  const double empty =
      named.tensor == &reference::Tensors::lse ? -std::numeric_limits<double>::infinity() : 0;
  return tally({actual, none + empty, none, none, first_pair(evidence_.test, part.of.entries),
                flatten({{length, seq - length}})},
               seq);
}

}  // namespace ringcheck::parity
