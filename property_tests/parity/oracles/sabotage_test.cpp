// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// The oracles are only worth what they reject: each subject here is wrong in one way, and some
// oracle must say so, naming the right tensor.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "parity/subject/world.h"
#include "property_tests/parity/oracles/spoilt.h"

namespace ringcheck {
namespace {

using parity::Case;
using parity::RankInput;
using parity::RankOutput;
using parity::Status;
using parity::Verdict;

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const char* dtype : {"float64", "float32", "bf16", "fp16"})
    list.push_back(parity::parse_case(std::string("ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s37/d8/dv12/") + dtype));
  return list;
}

struct Wrong {
  const char* name;
  const char* tensor;  // that the verdict must name
  Spoil spoil;
};

// On one rank only, as far as it holds tokens: the others are right.
void on_last_rank(Communicator& comm, const std::function<void()>& what) {
  if (comm.rank() == comm.size() - 1) what();
}

std::vector<Wrong> wrongs() {
  std::vector<Wrong> list;
  for (const char* name : {"o", "lse", "dq", "dk", "dv"}) {
    const std::string tensor = name;
    list.push_back({"zero", name, [=](Communicator&, RankOutput& o) { of(o, tensor).zero_(); }});
    list.push_back({"constant", name, [=](Communicator&, RankOutput& o) { of(o, tensor).fill_(0.5); }});
    list.push_back({"one NaN", name, [=](Communicator& c, RankOutput& o) {
                      on_last_rank(c, [&] { of(o, tensor).select(2, 1).fill_(NAN); });
                    }});
    list.push_back({"infinity", name, [=](Communicator& c, RankOutput& o) {
                      on_last_rank(c, [&] { of(o, tensor).select(2, 1).fill_(INFINITY); });
                    }});
    list.push_back({"one rank negated", name, [=](Communicator& c, RankOutput& o) {
                      on_last_rank(c, [&] { of(o, tensor).neg_(); });
                    }});
    list.push_back({"heads swapped", name,
                    [=](Communicator&, RankOutput& o) { of(o, tensor) = of(o, tensor).flip(1); }});
    list.push_back({"batch swapped", name,
                    [=](Communicator&, RankOutput& o) { of(o, tensor) = of(o, tensor).flip(0); }});
    list.push_back({"two rows swapped", name, [=](Communicator&, RankOutput& o) {
                      of(o, tensor) = of(o, tensor).roll(1, 2);
                    }});
    list.push_back({"3 % too large", name,
                    [=](Communicator&, RankOutput& o) { of(o, tensor).mul_(1.03); }});
    list.push_back({"of the other shape", name, [=](Communicator&, RankOutput& o) {
                      of(o, tensor) = of(o, tensor).narrow(1, 0, 1);
                    }});
  }
  list.push_back({"LSE in base 2", "lse",
                  [](Communicator&, RankOutput& o) { o.lse.mul_(1.4426950408889634); }});
  list.push_back({"LSE in bf16", "lse", [](Communicator&, RankOutput& o) {
                    o.lse = o.lse.to(at::kBFloat16).to(o.lse.scalar_type());
                  }});
  return list;
}

TEST(Parity, RejectsEverySpoiltTensor) {
  int rejected = 0;
  for (const Case& test : cases())
    for (const Wrong& wrong : wrongs()) {
      const Verdict verdict = verify_spoilt(test, wrong.spoil);
      EXPECT_EQ(verdict.status, Status::kFail)
          << wrong.name << " " << wrong.tensor << " in " << parity::to_text(test);
      if (verdict.status != Status::kFail) continue;
      const auto& findings = oracle(verdict, "parity").findings;
      EXPECT_THAT(findings, testing::Contains(testing::StartsWith(std::string(wrong.tensor) + ":")))
          << wrong.name;
      ++rejected;
    }
  EXPECT_EQ(rejected, 4 * 52);
}

TEST(Parity, RejectsTheOutcomeOfAnotherSeed) {
  for (const Case& test : cases()) {
    parity::RunOptions options;
    options.subject = parity::ours_with([](Communicator& comm, const Case& c, const RankInput& input) {
      Case other = c;
      ++other.seed;
      return parity::context_parallel(
          comm, c, {parity::problem_of(other, input.positions), input.positions});
    });
    EXPECT_EQ(parity::verify(test, options).status, Status::kFail);
  }
}

TEST(Parity, AcceptsAnUntouchedOutcome) {
  for (const Case& test : cases())
    EXPECT_EQ(verify_spoilt(test, [](Communicator&, RankOutput&) {}).status, Status::kPass);
}

// 37 slots do not divide among 3 ranks: the last slots of each are pads.
TEST(Parity, NamesThePadSlotsThatHoldSomething) {
  const Case test = parity::parse_case("ring:p2p/striped[2]/causal/P3/b2/hq4/hkv2/s37/d8/dv12/float32");
  for (const char* name : {"o", "lse", "dq", "dk", "dv"})
    for (int rank = 0; rank < test.world; ++rank) {
      const auto positions = flatten(parity::layout_of(test).queries.at(rank));
      const Verdict verdict = verify_spoilt(test, [&](Communicator& comm, RankOutput& o) {
        for (size_t slot = 0; slot < positions.size() && comm.rank() == rank; ++slot)
          if (positions[slot] >= test.seq) of(o, name).select(2, static_cast<int64_t>(slot)).fill_(1);
      });
      EXPECT_EQ(verdict.status, Status::kFail);
      const auto& parity = oracle(verdict, "parity");
      EXPECT_THAT(parity.findings, testing::ElementsAre(testing::StartsWith(
                                       std::string(name) + ": rank " + std::to_string(rank) + " has pad slots")));
      for (const parity::TensorVerdict& tensor : parity.tensors)
        EXPECT_EQ(tensor.status, tensor.tensor == name ? Status::kFail : Status::kPass) << tensor.tensor;
    }
}

// Neither a failure of the subject nor a pass.
TEST(Parity, SaysThatItNeedsTheRotatedTensors) {
  const Case test = parity::parse_case("ring:p2p/P3/hq2/hkv1/s31/d8/bf16/rope:half[10000]");
  const Spoil hides = [](Communicator&, RankOutput& o) { o.k_rotated.reset(); };
  const auto says_so = [](parity::Promise& promise) {
    promise.shows.erase("q");
    promise.shows.erase("k");
  };
  const Verdict verdict = verify_spoilt(test, hides, {}, says_so);
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  EXPECT_THAT(verdict.reason, testing::HasSubstr("rotated q and k"));
  for (const char* name : {"rope", "rope-norms"})
    EXPECT_EQ(oracle(verdict, name).status, Status::kNotApplicable) << name;
  EXPECT_EQ(verify_spoilt(test, hides).status, Status::kFail);  // it promised to show them
}

TEST(RopeOracle, RejectsAnotherPosition) {
  const Case test = parity::parse_case("ring:p2p/striped[2]/P3/hq2/hkv1/s31/d8/bf16/rope:half[10000]");
  const Verdict verdict = verify_spoilt(test, [](Communicator& comm, RankOutput& o) {
    on_last_rank(comm, [&] { o.k_rotated = o.k_rotated.roll(1, 2); });
  });
  EXPECT_EQ(oracle(verdict, "rope").status, Status::kFail);
}

parity::OracleVerdict counters_of(const Case& test, const parity::Outcome& outcome) {
  const parity::Problem problem = parity::problem_of(test);
  return parity::Oracles::at("counters")
      .judge({test, *parity::ours(), problem, outcome, {}, [] {}});
}

struct Miscounted {
  const char* name;
  std::function<void(parity::RankRecord&)> change;
};

TEST(CountersOracle, RejectsEveryFigureThatIsOff) {
  const std::vector<Miscounted> list{
      {"bytes sent", [](auto& r) { r.forward.bytes_sent += 1; }},
      {"bytes received", [](auto& r) { r.backward.bytes_received -= 2; }},
      {"messages", [](auto& r) { r.backward.messages += 1; }},
      {"no communication at all", [](auto& r) { r.forward.bytes_sent = r.forward.bytes_received = 0; }},
      {"pairs", [](auto& r) { r.forward.pairs += 1; }},
      {"FLOPs", [](auto& r) { r.backward.flops *= 2; }},
      {"steps", [](auto& r) { r.backward.steps -= 1; }},
      {"less overlapped", [](auto& r) { --r.forward.overlapped.value(); }},
      {"more overlapped", [](auto& r) { ++r.backward.overlapped.value(); }},
      {"a message that nobody waits for", [](auto& r) { r.backward.unwaited = 1; }},
      {"pairs of another head", [](auto& r) { r.forward_heads[0] -= 4, r.forward_heads[1] += 4; }},
      {"heads that were not attended", [](auto& r) { r.backward_heads[1] = 0; }},
      {"K and V held", [](auto& r) { r.kv_bytes += 1; }},
      {"travellers held", [](auto& r) { r.traveller_bytes *= 2; }},
      {"peak", [](auto& r) { r.peak_bytes += int64_t{1} << 30; }},
      {"more computed", [](auto& r) { r.forward.computed *= 8; }},
      {"less computed", [](auto& r) { r.backward.computed = r.backward.pairs - 1; }},
      {"sent outside", [](auto& r) { r.bytes_sent += 1; }},
      {"received outside", [](auto& r) { r.bytes_received += 1; }},
      {"a message outside", [](auto& r) { ++r.messages; }},
      {"held forward", [](auto& r) { ++r.forward_stock.attending; }},
      {"held between", [](auto& r) { ++r.forward_stock.after; }},
      {"held backward", [](auto& r) { --r.backward_stock.attending; }},
      {"held after", [](auto& r) { ++r.backward_stock.after; }},
      {"peak before", [](auto& r) { r.forward_stock.peak(Stage::kPrepare) += 1 << 12; }},
      {"peak in a kernel", [](auto& r) { r.forward_stock.peak(Stage::kAttend) += 1 << 12; }},
      {"peak between blocks", [](auto& r) { r.backward_stock.peak(Stage::kCombine) += 1 << 12; }},
      {"peak at the end", [](auto& r) { r.backward_stock.peak(Stage::kFinish) += 1 << 12; }},
      {"an edge", [](auto& r) { std::ranges::rotate(r.sent_to, r.sent_to.begin() + 1); }}};
  for (const Case& test : cases()) {
    const parity::Outcome clean = parity::solve_on_threads({test}, *parity::ours());
    EXPECT_EQ(counters_of(test, clean).status, Status::kPass);
    for (const Miscounted& wrong : list)
      for (int rank = 0; rank < test.world; ++rank) {
        parity::Outcome outcome = clean;
        wrong.change(outcome.ranks.at(rank));
        const parity::OracleVerdict verdict = counters_of(test, outcome);
        EXPECT_EQ(verdict.status, Status::kFail) << wrong.name;
        EXPECT_TRUE(verdict.contract);
        ASSERT_FALSE(verdict.findings.empty()) << wrong.name;
        EXPECT_THAT(verdict.findings.front(), testing::StartsWith("rank " + std::to_string(rank)));
      }
  }
}

// One rank alone, whichever it is, is named.
TEST(Parity, RejectsEachRankThatIsWrongAlone) {
  for (const Case& test : cases())
    for (const char* name : {"o", "lse", "dq", "dk", "dv"})
      for (int rank = 0; rank < test.world; ++rank) {
        const Verdict verdict = verify_spoilt(test, [&](Communicator& comm, RankOutput& o) {
          if (comm.rank() == rank) of(o, name).neg_();
        });
        const auto& findings = oracle(verdict, "parity").findings;
        EXPECT_EQ(verdict.status, Status::kFail) << name << " of rank " << rank;
        EXPECT_THAT(findings, testing::Contains(testing::StartsWith(
                                  std::string(name) + ": rank " + std::to_string(rank) + " ")));
      }
}

TEST(Runner, NamesTheRankThatThrows) {
  const Verdict verdict = verify_spoilt(cases()[0], [](Communicator& comm, RankOutput&) {
    if (comm.rank() == 2) throw std::runtime_error("a broken rank");
  });
  EXPECT_EQ(verdict.status, Status::kCrash);
  EXPECT_THAT(verdict.reason, testing::AllOf(testing::HasSubstr("rank 2"), testing::HasSubstr("a broken rank")));
}

TEST(Runner, NamesTheOperationThatHangs) {
  parity::RunOptions options;
  options.deadline = std::chrono::milliseconds(200);
  options.subject = parity::ours_with([](Communicator& comm, const Case& c, const RankInput& input) {
    if (comm.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(600));
    return parity::context_parallel(comm, c, input);
  });
  const Verdict verdict = parity::verify(cases()[0], options);
  EXPECT_EQ(verdict.status, Status::kHang);
  EXPECT_THAT(verdict.reason, testing::AllOf(testing::HasSubstr("exchange kv"), testing::HasSubstr("peer")));
}

}  // namespace
}  // namespace ringcheck
