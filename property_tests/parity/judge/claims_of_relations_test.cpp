// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// A relation that leaves out a tensor, or one of its further runs, passes whatever stands there.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "parity/judge/comparison.h"
#include "parity/judge/observed.h"
#include "parity/judge/oracle.h"
#include "parity/judge/runner.h"
#include "parity/subject/ours.h"
#include "parity/subject/world.h"

namespace ringcheck::parity {
namespace {

using Names = std::set<std::string>;

// Of which tensors of its further runs a relation speaks, as docs/oracles.md says; the others of all.
const std::map<std::string, Names> kClaims{
    {"adjoint", {"o"}},
    {"causality", {"o", "lse", "dq"}},
    {"gradient-causality", {"dk", "dv"}},
    {"key-shift", {"o", "lse", "dk", "dv"}},
    {"other-values", {}},
    {"position-shift", {"o", "lse"}},
    {"prefix", {"o", "lse"}},
    {"splitting", {"o", "lse"}},
    {"value-sum", {"o", "dq", "dk"}},
    {"visible-nan", {}},  // of NaN alone
};

Names claims_of(const std::string& relation) {
  const auto found = kClaims.find(relation);
  return found != kClaims.end() ? found->second : Names{"o", "lse", "dq", "dk", "dv"};
}

Status judged(const Oracle& oracle, const Case& test, const Outcome& outcome,
              const std::vector<Outcome>& runs, const Subject& subject = *ours()) {
  const Problem problem = problem_of(test);
  return oracle.judge({test, subject, problem, outcome, runs, [] {}}).status;
}

// Each tensor of each further run, spoilt alone, fails. False where the relation has no runs here.
bool sees_all_that_it_claims(const std::string& name, const Case& test) {
  const Oracle& oracle = Oracles::at(name);
  ThreadRanks threads(std::chrono::seconds(60));
  const Observed all = observe(test, *ours(), threads, {name}).value();
  const auto runs = all.variations.find(name);
  if (runs == all.variations.end() || runs->second.empty()) return false;
  EXPECT_EQ(judged(oracle, test, all.outcome, runs->second), Status::kPass) << name;
  for (size_t run = 0; run < runs->second.size(); ++run)
    for (const std::string& claimed : claims_of(name)) {
      std::vector<Outcome> wrong = runs->second;
      for (const auto& [tensor, field] : kTensors)
        if (tensor == claimed) wrong[run].tensors.*field = -(wrong[run].tensors.*field) - 1;
      EXPECT_EQ(judged(oracle, test, all.outcome, wrong), Status::kFail)
          << name << ": " << claimed << " of further run " << run << " of " << to_text(test);
    }
  return true;
}

TEST(ClaimsOfRelations, AreSeenInEveryTensorAndRun) {
  Names unseen;
  for (const auto& [name, oracle] : Oracles::all()) {
    if (!oracle.variations || oracle.of_form) continue;
    bool seen = false;
    for (const char* mask : {"causal", "full"})
      seen |= sees_all_that_it_claims(
          name, parse_case(std::string("ring:p2p/headtail/P3/b2/hq4/hkv2/s37/d8/dv12/float32/") + mask));
    if (!seen) unseen.insert(name);
  }
  // These need GPUs, float64 and RoPE.
  EXPECT_EQ(unseen, (Names{"device-order", "difference-quotient", "rope-shards"}));
}

// Bounds are of its size.
TEST(ClaimsOfRelations, HoldUnderANegativeScale) {
  const Case test = parse_case("ring:p2p/headtail/causal/P2/b1/hq2/hkv1/s17/d8/float32/scale:-0.4");
  RunOptions options;
  for (const auto& [name, oracle] : Oracles::all())
    if (oracle.variations) options.judging.oracles.push_back(name);
  const Verdict verdict = verify(test, options);
  EXPECT_EQ(verdict.status, Status::kPass) << verdict.reason;
  for (const OracleVerdict& oracle : verdict.oracles)
    EXPECT_TRUE(oracle.status == Status::kPass || oracle.status == Status::kNotApplicable)
        << oracle.name << ": " << ::testing::PrintToString(oracle.findings);
}

// What a rank of a further run moves, attends or never waits for is compared, whichever rank it is.
TEST(ClaimsOfRelations, AreAboutTheCountersOfEveryRank) {
  const Case test = parse_case("ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s37/d8/float32");
  for (const char* name : {"groups", "other-values"}) {
    ThreadRanks threads(std::chrono::seconds(60));
    const Observed all = observe(test, *ours(), threads, {name}).value();
    const std::vector<Outcome>& runs = all.variations.at(name);
    const std::vector<std::function<void(RankRecord&)>> changes{
        [](RankRecord& r) { ++r.bytes_sent; },         [](RankRecord& r) { --r.forward.pairs; },
        [](RankRecord& r) { ++r.backward.messages; },  [](RankRecord& r) { ++r.backward.unwaited; },
        [](RankRecord& r) { ++r.forward_heads.at(1); }, [](RankRecord& r) { ++r.kv_bytes; }};
    for (int rank = 0; rank < test.world; ++rank)
      for (const auto& change : changes) {
        std::vector<Outcome> wrong = runs;
        change(wrong.front().ranks.at(rank));
        EXPECT_EQ(judged(Oracles::at(name), test, all.outcome, wrong), Status::kFail) << name << ", rank " << rank;
      }
  }
}

TEST(ClaimsOfRelations, NobodyIsHeldToCountersThatHeDoesNotPromise) {
  const Case test = parse_case("ring:p2p/headtail/causal/P2/b1/hq2/hkv1/s16/d8/float32");
  const SharedSubject silent = ours_with(context_parallel, [](Promise& promise) { promise.counts.clear(); });
  ThreadRanks threads(std::chrono::seconds(60));
  const Observed all = observe(test, *silent, threads, {"groups"}).value();
  std::vector<Outcome> runs = all.variations.at("groups");
  ++runs.front().ranks.at(1).bytes_sent;
  EXPECT_EQ(judged(Oracles::at("groups"), test, all.outcome, runs, *silent), Status::kPass);
  runs.front().tensors.dv = runs.front().tensors.dv + 1;
  EXPECT_EQ(judged(Oracles::at("groups"), test, all.outcome, runs, *silent), Status::kFail);
}

// On a CPU what is held follows from the case alone, in both passes; how a peak comes about does not.
TEST(ClaimsOfRelations, OtherValuesAreHeldInAsManyBytes) {
  const Case test = parse_case("ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s37/d8/float32");
  ThreadRanks threads(std::chrono::seconds(60));
  const Observed all = observe(test, *ours(), threads, {"other-values"}).value();
  const auto status = [&](int rank, const std::function<void(RankRecord&)>& change) {
    std::vector<Outcome> runs = all.variations.at("other-values");
    change(runs.front().ranks.at(rank));
    return judged(Oracles::at("other-values"), test, all.outcome, runs);
  };
  for (int rank = 0; rank < test.world; ++rank) {
    for (Stock RankCounts::*pass : {&RankCounts::forward_stock, &RankCounts::backward_stock})
      for (int64_t Stock::*held : {&Stock::attending, &Stock::after})
        EXPECT_EQ(status(rank, [&](RankRecord& r) { ++(r.*pass.*held); }), Status::kFail) << "rank " << rank;
    EXPECT_EQ(status(rank, [](RankRecord& r) { ++r.peak_bytes; }), Status::kPass) << "rank " << rank;
  }
}

// Differences are good to some 1e-8: a gradient that is off by a millionth is seen, one by 1e-12 is not.
TEST(ClaimsOfRelations, DifferencesSeeAMillionthOfEachGradient) {
  const Case test = parse_case("ring:p2p/headtail/causal/P2/b1/hq2/hkv1/s9/d4/dv4/float64");
  const Oracle& oracle = Oracles::at("difference-quotient");
  ThreadRanks threads(std::chrono::seconds(60));
  const Observed all = observe(test, *ours(), threads, {"difference-quotient"}).value();
  const std::vector<Outcome>& runs = all.variations.at("difference-quotient");
  EXPECT_EQ(judged(oracle, test, all.outcome, runs), Status::kPass);
  for (at::Tensor reference::Tensors::*gradient :
       {&reference::Tensors::dq, &reference::Tensors::dk, &reference::Tensors::dv})
    for (const auto& [off, status] : {std::pair(1e-6, Status::kFail), {1e-12, Status::kPass}}) {
      Outcome wrong = all.outcome;
      wrong.tensors.*gradient = wrong.tensors.*gradient * (1 + off);
      EXPECT_EQ(judged(oracle, test, wrong, runs), status) << off;
    }
}

// Who takes a tensor to begin where its memory does is seen by a run in which it begins an element behind that.
TEST(ClaimsOfRelations, StridesSeeWhereATensorBegins) {
  const Case test = parse_case("ring:p2p/headtail/causal/P2/b1/hq2/hkv1/s24/d8/float32");
  for (at::Tensor Problem::*tensor : {&Problem::q, &Problem::k, &Problem::v, &Problem::d_o}) {
    RunOptions options;
    options.judging.oracles = {"strides"};
    options.subject = ours_with([&](Communicator& comm, const Case& c, const RankInput& given) {
      RankInput input{given.local.to(comm.device(), true), given.positions};
      at::Tensor& x = input.local.*tensor;
      if (x.is_contiguous()) x = x.as_strided(x.sizes(), x.strides(), 0).clone();
      return context_parallel(comm, c, input);
    });
    EXPECT_EQ(verify(test, options).oracles.front().status, Status::kFail);
    options.subject = ours();
    EXPECT_EQ(verify(test, options).oracles.front().status, Status::kPass);
  }
}

}  // namespace
}  // namespace ringcheck::parity
