// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Each outcome here is wrong in one way. An oracle must reject every one of them in which a tensor
// that it claims came out differently.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "parity/judge/comparison.h"
#include "parity/judge/runner.h"
#include "parity/subject/contract.h"
#include "property_tests/parity/oracles/exact_cases.h"
#include "property_tests/kernels/wrong_kernels.h"

namespace ringcheck {
namespace {

using parity::Case;
using parity::Outcome;
using parity::Status;

Outcome outcome_of(const parity::Run& run, const parity::SharedSubject& subject) {
  return parity::solve_on_threads(run, *subject);
}

parity::OracleVerdict judge(const std::string& oracle, const Case& test, const Outcome& outcome) {
  return parity::Oracles::at(oracle).judge({test, *parity::ours(), parity::problem_of(test), outcome, {}, [] {}});
}

at::Tensor& of(reference::Tensors& tensors, const std::string& name) {
  for (const auto& [known, tensor] : parity::kTensors)
    if (name == known) return tensors.*tensor;
  throw std::out_of_range(name);
}

struct Wrong {
  std::string name;
  Outcome outcome;
};

// Every tensor replaced; the outcome itself shares nothing with the right one.
Outcome replaced(const Outcome& right, const std::function<void(at::Tensor&)>& change) {
  Outcome wrong = right;
  for (const auto& [name, tensor] : parity::kTensors) {
    wrong.tensors.*tensor = (wrong.tensors.*tensor).clone();
    change(wrong.tensors.*tensor);
  }
  return wrong;
}

// The same subject on other numbers: what a buffer of another run would hold.
Outcome of_other_data(const Case& test, const std::function<void(Case&)>& change) {
  return outcome_of({test, [change](Case other, const Positions& positions) {
                       change(other);
                       return parity::problem_of(other, positions);
                     }}, parity::ours());
}

std::vector<Wrong> wrongs(const Case& test, const Outcome& right) {
  std::vector<Wrong> list{
      {"zero", replaced(right, [](at::Tensor& x) { x.zero_(); })},
      {"constant", replaced(right, [](at::Tensor& x) { x.fill_(0.5); })},
      {"one NaN", replaced(right, [](at::Tensor& x) { x.view(-1)[x.numel() / 2].fill_(NAN); })},
      {"previous case", of_other_data(test, [](Case& other) { other.data = "spread3"; })},
      {"another seed", of_other_data(test, [](Case& other) { ++other.seed; })}};
  for (const WrongSubject& wrong : wrong_subjects())
    list.push_back({wrong.name, outcome_of({test}, wrong.subject)});
  return list;
}

// In any bit, or by more than rounding may do.
bool differs(const at::Tensor& right, const at::Tensor& wrong, bool every_bit) {
  if (every_bit) return !same_bits(right, wrong);
  const double room = c10::elementSize(right.scalar_type()) == 2 ? 0x1p-6 : 0x1p-13;
  return !at::allclose(wrong, right, room, room);
}

bool differs(const ExactOracle& oracle, Outcome right, Outcome wrong) {
  return std::ranges::any_of(oracle.tensors, [&](const std::string& name) {
    return differs(of(right.tensors, name), of(wrong.tensors, name), oracle.every_bit);
  });
}

// What the claims of an oracle do not depend on: these outcomes are right to it.
const std::map<std::string, std::set<std::string>>& blind_to() {
  static const std::map<std::string, std::set<std::string>> table{
      // n_i follows from the mask alone.
      {"census", {"another seed", "block stale"}},
      // The mean of ones is 1, whichever keys are taken.
      {"constant-v", {"another seed", "block lost", "block twice", "block stale", "mask one too narrow",
                      "mask one too wide"}},
      // A score of 0 is more than 110 below the largest.
      {"routing-gradients", {"key of zeros leaks"}}};
  return table;
}

bool is_blind(const ExactOracle& oracle, const std::string& wrong) {
  const auto found = blind_to().find(oracle.name);
  return found != blind_to().end() && found->second.contains(wrong);
}

struct Shape {
  const char* text;
  bool snap;  // queries see 2^k keys
};
constexpr Shape kShapes[] = {
    {"ring:p2p/headtail/full/P2/b1/hq2/hkv1/s64/d16/dv8", true},
    {"ring:alltoall/contiguous/docfull[32:34,16]/P3/b2/hq4/hkv2/d16/dv12", true},
    {"ring:allgather/striped[2]/full/P8/b1/hq2/hkv2/s128/d16/dv16", true},
    {"ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s37/d8/dv12", false},
    {"ring:alltoall/striped[3]/doc[19:22,15]/P5/b1/hq2/hkv1/d16/dv8", false},
    {"ring:allgather[keep]/contiguous/window[20]/P7/b1/hq2/hkv2/s50/d8/dv8", false},
    {"ring:p2p/headtail/prefix[9]/P4/b1/hq2/hkv1/s48/d8/dv8", false}};

std::vector<Case> cases(const std::string& family) {
  std::vector<Case> list;
  for (const Shape& shape : kShapes)
    for (const char* dtype : {"float64", "float32", "bf16", "fp16"}) {
      const std::string text = std::string(shape.text) + "/scale:0.25/" + dtype;
      const bool sixteen = std::string(dtype).ends_with("16");
      if (family != "snap" || (shape.snap && sixteen))
        list.push_back(parity::parse_case(text + "/" + family));
    }
  return list;
}

class Sabotage : public testing::TestWithParam<ExactOracle> {};

TEST_P(Sabotage, IsRejectedWhereverItShows) {
  const ExactOracle& oracle = GetParam();
  std::map<std::string, int> rejected, unseen;
  for (const Case& test : cases(oracle.family)) {
    const Outcome right = outcome_of({test}, parity::ours());
    ASSERT_EQ(judge(oracle.name, test, right).status, Status::kPass) << parity::to_text(test);
    for (const Wrong& wrong : wrongs(test, right)) {
      if (is_blind(oracle, wrong.name) || !differs(oracle, right, wrong.outcome)) {
        ++unseen[wrong.name];
        continue;
      }
      const auto verdict = judge(oracle.name, test, wrong.outcome);
      EXPECT_EQ(verdict.status, Status::kFail) << wrong.name << " in " << parity::to_text(test);
      if (verdict.status == Status::kFail) ++rejected[wrong.name];
    }
  }
  for (const auto& [name, count] : unseen) RecordProperty("unseen: " + name, count);
  for (const auto& [name, count] : rejected) RecordProperty("rejected: " + name, count);
  for (const auto& [name, count] : unseen)
    EXPECT_TRUE(rejected[name] > 0 || is_blind(oracle, name)) << name << " never shows";
}

INSTANTIATE_TEST_SUITE_P(Exact, Sabotage, testing::ValuesIn(exact_oracles()), [](const auto& entry) {
  std::string name = entry.param.name + "_" + entry.param.family;
  std::ranges::replace(name, '-', '_');
  return name;
});

// What the oracles of counts say about the keys of rank 0.
std::vector<std::string> findings(const char* oracle, const char* wrong, const char* text) {
  const Case test = parity::parse_case(text);
  for (const WrongSubject& subject : wrong_subjects())
    if (subject.name == wrong) return judge(oracle, test, outcome_of({test}, subject.subject)).findings;
  throw std::out_of_range(wrong);
}

TEST(Ownership, NamesTheKeysThatWereLostOrDoubled) {
  using testing::Contains, testing::HasSubstr, testing::AllOf, testing::StartsWith;
  for (const char* balance : {"headtail", "contiguous", "striped[1]", "striped[3]"}) {
    const std::string text =
        std::string("ring:p2p/") + balance + "/causal/P4/b1/hq2/hkv2/s48/d4/dv8/float32/census";
    EXPECT_THAT(findings("ownership", "block lost", text.c_str()),
                Contains(AllOf(StartsWith("rank 3, batch 0"), HasSubstr("keys of rank 0 are missing"))));
    EXPECT_THAT(findings("ownership", "block twice", text.c_str()),
                Contains(AllOf(StartsWith("rank 2, batch 0"), HasSubstr("keys of rank 0 count twice"))));
  }
}

TEST(Census, NamesTheKeysThatWereLostWhereCountsTell) {
  using testing::Contains, testing::HasSubstr;
  EXPECT_THAT(findings("census", "block lost", "ring:p2p/headtail/causal/P4/hq1/hkv1/s48/d4/bf16/census"),
              Contains(HasSubstr("keys of rank 0 are missing")));
  EXPECT_THAT(findings("census", "mask one too narrow", "ring:p2p/causal/P2/hq1/hkv1/s16/d4/bf16/census"),
              Contains(HasSubstr("position 0 sees 0 keys of 1")));
}

// 0 keys are no number that exp() makes of an LSE: only -inf says so.
TEST(Census, AQueryThatSeesNoKeyHasNoLse) {
  const Case test = parity::parse_case("ring:p2p/headtail/doc[5:8,3]/P2/hq2/hkv1/d4/float32/census");
  const Outcome right = outcome_of({test}, parity::ours());
  ASSERT_TRUE(right.tensors.lse[0][1][6].isneginf().item<bool>());
  EXPECT_EQ(judge("census", test, right).status, Status::kPass);
  for (const double instead : {-1e30, -800.0, -5.0}) {
    const Outcome wrong = replaced(right, [](at::Tensor&) {});
    wrong.tensors.lse[0][1][6].fill_(instead);
    EXPECT_EQ(judge("census", test, wrong).status, Status::kFail) << instead;
  }
}

// An LSE of one key is its score, to three units in the last place and the error of exp.
TEST(Routing, AnLseIsAScoreToItsLastPlaces) {
  for (const char* dtype : {"float32", "float64"}) {
    const Case test = parity::parse_case(std::string("ring:p2p/headtail/causal/P3/hq2/hkv2/s48/d8/scale:0.25/routing/") + dtype);
    const Outcome right = outcome_of({test}, parity::ours());
    const double last_place = 2 * parity::ours()->promise(test).contract.u_a;
    for (const auto& [places, status] : {std::pair{1, Status::kPass}, {8, Status::kFail}, {-8, Status::kFail}}) {
      Outcome off = right;
      off.tensors.lse = right.tensors.lse * (1 + places * last_place);
      EXPECT_EQ(judge("routing", test, off).status, status) << places << " in " << dtype;
    }
  }
}

// Ours, by a promise that says nothing of how it merges.
class MergingAnyhow final : public parity::Subject {
 public:
  std::optional<std::string> refuses(const Case& test) const override { return parity::ours()->refuses(test); }
  parity::Promise promise(const Case& test) const override {
    parity::Promise promise = parity::ours()->promise(test);
    promise.contract = parity::merging_anyhow(promise.contract);
    return promise;
  }
  parity::RankOutput run(Communicator& comm, const Case& test, const parity::RankInput& input) const override {
    return parity::ours()->run(comm, test, input);
  }
};

// a - w (a - b) leaves a rounding of a where w = 1: some of it is right by 6 u_d of the largest v, and
// by none where weights are promised.
TEST(Routing, AMergeByDifferencesLeavesARoundingOfWhatItWeightsByZero) {
  const Case test = parity::parse_case("ring:p2p/headtail/causal/P3/b1/hq2/hkv2/s48/d8/dv8/float32/scale:0.25/routing");
  const Outcome right = outcome_of({test}, parity::ours());
  const parity::Problem problem = parity::problem_of(test);
  const double unit = 0x1p-24 * problem.v.abs().amax({2}).min().item<double>();
  const auto status = [&](const parity::Subject& subject, double units) {
    const Outcome wrong = replaced(right, [&](at::Tensor& x) { x.add_(units * unit); });
    Outcome only_o = right;
    only_o.tensors.o = wrong.tensors.o;
    return parity::Oracles::at("routing").judge({test, subject, problem, only_o, {}, [] {}}).status;
  };
  ASSERT_FALSE(same_bits(right.tensors.o, right.tensors.o + 4 * unit));
  EXPECT_EQ(status(*parity::ours(), 4), Status::kFail);
  EXPECT_EQ(status(MergingAnyhow(), 4), Status::kPass);
  EXPECT_EQ(status(MergingAnyhow(), 4000), Status::kFail);
}

// And with O it is D = rowsum(dO O) that is off, and dS = P (dO v - D): what it makes of dQ and dK.
TEST(RoutingGradients, AreOffByWhatAMergeByDifferencesLeavesOfO) {
  const Case test = parity::parse_case("ring:p2p/headtail/causal/P3/b1/hq2/hkv2/s48/d8/dv8/float32/scale:0.25/routing");
  const parity::Problem problem = parity::problem_of(test);
  const Outcome right = outcome_of({test}, parity::ours());
  const auto status = [&](const parity::Subject& subject, double units) {
    Outcome off = right;
    // dS of a query, in units of u_d sum |dO| max |v|, times its key: q and k of the others are as large.
    const at::Tensor size = (problem.d_o.abs() * problem.v.abs().amax({2}, true)).sum({3}, true);
    off.tensors.dq = right.tensors.dq + units * 0x1p-24 * 0.25 * size * problem.k.abs().amin({2}, true);
    return parity::Oracles::at("routing-gradients").judge({test, subject, problem, off, {}, [] {}}).status;
  };
  EXPECT_EQ(status(*parity::ours(), 0), Status::kPass);
  EXPECT_EQ(status(*parity::ours(), 2), Status::kFail);
  EXPECT_EQ(status(MergingAnyhow(), 2), Status::kPass);
  EXPECT_EQ(status(MergingAnyhow(), 4000), Status::kFail);
}

}  // namespace
}  // namespace ringcheck
