// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <mutex>

#include "parity/comparison.h"
#include "parity/on_devices.h"
#include "parity/oracle.h"
#include "parity/reference_rope.h"
#include "parity/sampling.h"

namespace ringcheck::parity {
namespace {

TensorVerdict absent(const char* name) {
  TensorVerdict verdict;
  verdict.tensor = name;
  verdict.status = Status::kNotApplicable;
  return verdict;
}

// A tensor that was there and could not be judged: anything would pass.
TensorVerdict unjudged(const char* name) {
  TensorVerdict verdict = absent(name);
  verdict.status = Status::kInconclusive;
  verdict.vacuity = 1;
  return verdict;
}

// Families with a nearly constant V: there dS is the difference of equal numbers, and nothing can
// be said of dQ and dK beyond that they are within their bounds.
bool says_nothing(const Case& test, const std::string& tensor) {
  return (test.data == "ones" || test.data == "offset") && (tensor == "dq" || tensor == "dk");
}

Status status_of(const std::vector<TensorVerdict>& tensors) {
  Status status = Status::kNotApplicable;
  for (const TensorVerdict& tensor : tensors) {
    if (tensor.status == Status::kFail) return Status::kFail;
    if (tensor.status == Status::kInconclusive) status = Status::kInconclusive;
    if (tensor.status == Status::kPass && status == Status::kNotApplicable) status = Status::kPass;
  }
  return status;
}

struct Member {
  const char* name;
  at::Tensor reference::Tensors::*tensor;
  bool of_keys;
};
using reference::Tensors;
constexpr Member kMembers[] = {{"o", &Tensors::o, false},
                               {"lse", &Tensors::lse, false},
                               {"dq", &Tensors::dq, false},
                               {"dk", &Tensors::dk, true},
                               {"dv", &Tensors::dv, true}};

reference::Inputs inputs_of(const Evidence& evidence) {
  const Outcome& outcome = evidence.outcome;
  const Problem& problem = evidence.problem;
  return {outcome.q_rotated.defined() ? outcome.q_rotated : problem.q,
          outcome.k_rotated.defined() ? outcome.k_rotated : problem.k,
          problem.v, problem.d_o, mask_of(evidence.test), scale_of(evidence.test)};
}

std::vector<int64_t> shape_of(const Member& member, const Case& test) {
  std::vector<int64_t> shape{test.batch, member.of_keys ? test.kv_heads : test.q_heads, test.seq};
  const bool as_v = member.tensor == &Tensors::o || member.tensor == &Tensors::dv;
  if (member.tensor != &Tensors::lse) shape.push_back(as_v ? test.dim_v : test.dim);
  return shape;
}

// Compares with float64 a run of (batch, kv head) pairs after the other, on every device there is.
class Comparison {
 public:
  explicit Comparison(const Evidence& evidence)
      : evidence_(evidence), inputs_(inputs_of(evidence)) {
    const Case& test = evidence.test;
    for (const Member& member : kMembers) {
      const at::Tensor& actual = evidence.outcome.tensors.*member.tensor;
      comparable_.push_back(actual.defined() && actual.sizes() == shape_of(member, test));
    }
    queries_ = keys_ = flatten({{0, test.seq}});
    if (!sampled()) return;
    queries_ = drawn_positions(test.seq, evidence.sample, test.seed);
    const bool given = comparable_[0] && comparable_[1];  // O and LSE
    keys_ = given ? drawn_positions(test.seq, evidence.sample, ~test.seed) : std::vector<int64_t>();
  }

  // One tally a member.
  std::vector<Tally> operator()() const {
    const reference::Judge judge = judge_of_all();
    const std::vector<reference::Range> runs = judge.runs();
    std::vector<std::vector<Tally>> parts(runs.size());
    on_devices(devices_from(inputs_.q.device()), static_cast<int64_t>(runs.size()),
               [&](int64_t i, at::Device device) {
                 parts[i] = tallies(runs[i], judge(runs[i], device));
               });
    std::vector<Tally> sums(std::size(kMembers));
    for (const auto& part : parts)
      for (size_t member = 0; member < sums.size(); ++member) sums[member].add(part[member]);
    return sums;
  }

  bool sampled() const { return evidence_.sample > 0 && evidence_.sample < evidence_.test.seq; }
  bool comparable(size_t member) const { return comparable_[member]; }
  // dK and dV of a sample follow from O and LSE.
  bool judged(size_t member) const { return !kMembers[member].of_keys || !keys_.empty(); }

 private:
  reference::Judge judge_of_all() const {
    reference::Tiling tiling;
    if (!inputs_.q.is_cpu()) tiling.rows = tiling.columns = 2048, tiling.together = 1 << 22;
    tiling.tick = [this] {
      const std::lock_guard lock(ticking_);
      evidence_.tick();
    };
    std::optional<reference::Sample> sample;
    const auto& found = evidence_.outcome.tensors;
    if (sampled()) sample = {queries_, keys_, found.o, found.lse};
    return {inputs_, contract_of(evidence_.test), evidence_.test.world,
            reference_rope(evidence_.test), tiling, sample};
  }

  std::vector<Tally> tallies(reference::Range run, const reference::Judgement& truth) const {
    std::vector<Tally> list;
    for (size_t i = 0; i < std::size(kMembers); ++i)
      list.push_back(comparable_[i] && judged(i) ? tally_of(kMembers[i], run, truth) : Tally());
    return list;
  }

  Tally tally_of(const Member& member, reference::Range run,
                 const reference::Judgement& truth) const {
    const std::vector<int64_t>& positions = member.of_keys ? keys_ : queries_;
    const at::Tensor slots = sampled() ? at::tensor(positions, at::kLong) : at::Tensor();
    const auto by_group = [&](const reference::Tensors& tensors) {
      const at::Tensor& x = tensors.*member.tensor;
      return member.of_keys ? x.unsqueeze(1) : x;
    };
    const at::Tensor actual = reference::rows_of_pairs(evidence_.outcome.tensors.*member.tensor,
                                                       inputs_, run, slots);
    return tally({actual, by_group(truth.value), by_group(truth.bound), by_group(truth.sigma),
                  run.begin, positions},
                 evidence_.test.seq);
  }

  const Evidence& evidence_;
  reference::Inputs inputs_;
  std::vector<int64_t> queries_, keys_;
  std::vector<bool> comparable_;
  mutable std::mutex ticking_;
};

// O, LSE and the gradients against float64, on exactly the q and k that were attended.
std::vector<TensorVerdict> judge_tensors(const Evidence& evidence) {
  const Case& test = evidence.test;
  const Comparison comparison(evidence);
  const std::vector<Tally> tallies = comparison();
  std::vector<TensorVerdict> verdicts;
  for (size_t i = 0; i < tallies.size(); ++i) {
    const Member& member = kMembers[i];
    const at::Tensor& actual = evidence.outcome.tensors.*member.tensor;
    const int64_t heads = member.of_keys ? 1 : test.q_heads / test.kv_heads;
    if (!actual.defined())
      verdicts.push_back(absent(member.name));
    else if (!comparison.comparable(i))
      verdicts.push_back(misshapen(member.name, actual.sizes(), shape_of(member, test)));
    else if (!comparison.judged(i))
      verdicts.push_back(unjudged(member.name));
    else
      verdicts.push_back(judge(test, member.name,
                               {tallies[i], test.kv_heads, heads, !comparison.sampled()}));
  }
  return verdicts;
}

OracleVerdict judge(const Evidence& evidence) {
  OracleVerdict verdict;
  verdict.tensors = judge_tensors(evidence);
  for (TensorVerdict& result : verdict.tensors) {
    if (result.status == Status::kInconclusive && says_nothing(evidence.test, result.tensor))
      result.status = Status::kNotApplicable;
    if (result.status == Status::kFail) verdict.findings.push_back(result.tensor + ": " + result.worst);
    if (result.status == Status::kInconclusive)
      verdict.findings.push_back(result.tensor + ": a zero would pass for " +
                                 std::to_string(100 * result.vacuity) + " % of its energy");
  }
  verdict.status = status_of(verdict.tensors);
  int64_t wrong_pads = 0;
  for (const RankRecord& rank : evidence.outcome.ranks) wrong_pads += rank.wrong_pads;
  if (wrong_pads > 0) {
    verdict.status = Status::kFail;
    verdict.findings.push_back(std::to_string(wrong_pads) +
                               " elements of pad slots are not exactly empty");
  }
  return verdict;
}

const Oracles::Add registered{
    "parity",
    {"O, LSE, dQ, dK and dV differ from float64 by no more than this arithmetic can explain", judge}};

}  // namespace
}  // namespace ringcheck::parity
