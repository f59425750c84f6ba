// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch entries that hold different numbers of tokens are judged one by one.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "parity/faults/decorators/subject.h"
#include "parity/faults/fault.h"
#include "parity/judge/exact/exact.h"
#include "parity/judge/expected/expected.h"
#include "parity/judge/runner.h"
#include "parity/judge/truth.h"
#include "property_tests/parity/oracles/spoilt.h"

namespace ringcheck::parity {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* kPadded = "ring:p2p/headtail/causal/P3/lengths:9+22+0+1+22/hq4/hkv2/d8/dv12/float32";

// What the reference says of a batch is what its textbook form says of each entry, cut to its tokens.
TEST(PaddedBatch, HasTheTruthOfItsEntries) {
  for (const char* mask : {"full", "causal", "window[5]", "prefix[12]"}) {
    const Case test = parse_case(std::string("P2/") + mask + "/lengths:9+22+22+0+1/hq4/hkv2/d8/dv12/float64");
    const Problem p = problem_of(test);
    const Outcome outcome = solve_on_threads({test}, *ours());
    const reference::Judgement truth = truth_of(test, ours()->promise(test), p, outcome, {});
    for (int64_t entry = 0; entry < test.batch; ++entry) {
      const int64_t length = test.lengths[static_cast<size_t>(entry)];
      const auto of = [&](const at::Tensor& x) { return x.narrow(0, entry, 1).narrow(2, 0, length); };
      const auto pads = [&](const at::Tensor& x) { return x[entry].narrow(1, length, test.seq - length); };
      for (const auto& [name, tensor] : kTensors) {
        const double empty = std::string(name) == "lse" ? -INFINITY : 0;
        EXPECT_TRUE(pads(truth.value.*tensor).eq(empty).all().item<bool>()) << name;
        EXPECT_TRUE(pads(truth.bound.*tensor).eq(0).all().item<bool>()) << name;
        EXPECT_TRUE(pads(truth.sigma.*tensor).eq(0).all().item<bool>()) << name;
      }
      if (length == 0) continue;
      const reference::Tensors expected = reference::naive_attention(
          {of(p.q), of(p.k), of(p.v), of(p.d_o), mask_of(test, entry), scale_of(test)});
      for (const auto& [name, tensor] : kTensors)
        EXPECT_TRUE(of(truth.value.*tensor).allclose(expected.*tensor, 1e-10, 1e-12))
            << mask << ", entry " << entry << ", " << name;
    }
  }
}

TEST(PaddedBatch, HasAsManyPairsAsItsEntriesShow) {
  for (const char* mask : {"full", "causal", "window[5]", "prefix[12]"})
    for (const char* balance : {"contiguous", "headtail", "striped[2]"}) {
      const Case test = parse_case(std::string("P3/lengths:9+22+0/hq4/hkv2/d8/") + mask + "/" + balance);
      const at::Tensor seen = keys_seen(test);
      std::vector<int64_t> pairs(3, 0), pads(3, 0);
      for (int64_t entry = 0; entry < test.batch; ++entry) {
        const Mask one = mask_of(test, entry);
        for (int rank = 0; rank < test.world; ++rank)
          for (const int64_t q : flatten(layout_of(test).queries[rank])) {
            int64_t keys = 0;
            for (int64_t k = 0; k < test.seq; ++k) keys += visible(one, q, k);
            if (q < test.seq) {
              EXPECT_EQ(seen[entry][0][q].item<double>(), static_cast<double>(keys));
            }
            pairs[rank] += keys * test.q_heads;
            pads[rank] += keys == 0;
          }
      }
      for (int rank = 0; rank < test.world; ++rank) {
        EXPECT_EQ(pairs_of(test, rank), pairs[rank]) << to_text(test);
        EXPECT_EQ(pads_of_rank(test, rank), pads[rank]) << to_text(test);
      }
    }
}

// No oracle is alarmed by what is right, and those that know the answer find it.
TEST(PaddedBatch, PassesEveryOracle) {
  const std::pair<const char*, const char*> cases[] = {
      {"ring:p2p/headtail/causal/P3/bf16", "parity"},
      {"ring:allgather/contiguous/window[7]/P2/float32/rope:half[10000]", "rope"},
      {"gathered/headtail/full/P3/float64/rope:interleaved[10000]", "rope-norms"},
      {"ulysses/contiguous/prefix[5]/P2/fp16", "conservation"},
      {"ring:p2p/striped[2]/full/P4/float32/census", "census"},
      {"ring:p2p/headtail/causal/P2/bf16/census", "ownership"},
      {"ring:p2p/headtail/causal/P2/float32/equal-keys", "equal-keys"},
      {"ring:p2p/headtail/full/P2/float32/ones", "constant-v"},
      {"ring:p2p/contiguous/causal/P3/float32/routing", "routing"},
      {"gathered/contiguous/full/P2/float32/routing", "routing-gradients"}};
  for (const auto& [text, oracle_name] : cases) {
    const std::string whole = std::string(text) + "/lengths:9+22+0+1+22/hq4/hkv2/d16/dv24";
    const bool knows_the_answer = std::string(text).find(std::string("/") + oracle_name) != std::string::npos;
    RunOptions options;
    options.judging.oracles = knows_the_answer ? oracles_of_one_run() : all_oracles();
    const Verdict verdict = verify(parse_case(whole), options);
    EXPECT_EQ(verdict.status, Status::kPass) << whole << ": " << verdict.reason;
    for (const OracleVerdict& one : verdict.oracles)
      EXPECT_NE(one.status, Status::kFail) << whole << ", " << one.name << ": "
                                           << ::testing::PrintToString(one.findings);
    EXPECT_EQ(oracle(verdict, oracle_name).status, Status::kPass) << whole << ", " << oracle_name;
    EXPECT_EQ(oracle(verdict, "counters").status, Status::kPass) << whole;
  }
}

TEST(PaddedBatch, SnapIsExactWhereEveryEntrySeesAPowerOfTwo) {
  RunOptions options;
  options.judging.oracles = {"parity", "snap"};
  const Verdict verdict =
      verify(parse_case("P2/full/lengths:8+16+0/hq4/hkv2/d16/dv16/bf16/snap/scale:0.25"), options);
  EXPECT_EQ(oracle(verdict, "snap").status, Status::kPass);
}

Verdict judged(const std::string& text, const SharedSubject& subject, int64_t sample = 0) {
  RunOptions options;
  options.judging.oracles = {"parity"};
  options.judging.sample = sample;
  options.subject = subject;
  return verify(parse_case(text), options);
}

// One element of one entry, token or pad.
SharedSubject spoilt_at(int64_t entry, int64_t position, at::Tensor RankOutput::*tensor) {
  return with_output([=](RankOutput& output, Communicator& comm, const Case& test) {
    const std::vector<int64_t> own = flatten(layout_of(test).queries[comm.rank()]);
    for (size_t slot = 0; slot < own.size(); ++slot)
      if (own[slot] == position) (output.*tensor)[entry][1][static_cast<int64_t>(slot)].fill_(0.75);
  });
}

TEST(PaddedBatch, EveryElementOfEveryEntryIsJudged) {
  const std::pair<const char*, at::Tensor RankOutput::*> tensors[] = {
      {"o", &RankOutput::o},   {"lse", &RankOutput::lse}, {"dq", &RankOutput::dq},
      {"dk", &RankOutput::dk}, {"dv", &RankOutput::dv}};
  for (const auto& [name, tensor] : tensors)
    for (const auto& [entry, position] : {std::pair{0, 8}, {0, 9}, {1, 21}, {2, 0}, {3, 5}, {4, 13}}) {
      const Verdict verdict = judged(kPadded, spoilt_at(entry, position, tensor));
      EXPECT_EQ(verdict.status, Status::kFail);
      const std::string place =
          "batch " + std::to_string(entry) + ", head 1, position " + std::to_string(position);
      EXPECT_THAT(oracle(verdict, "parity").findings,
                  Contains(::testing::AllOf(HasSubstr(std::string(name) + ": "), HasSubstr(place))));
    }
}

// What `parity` says of an entry that it is given alone, cut to its tokens.
OracleVerdict judged_alone(const Case& batch, int64_t entry, const Problem& p, const Outcome& outcome) {
  Case test = batch;
  test.seq = batch.lengths[static_cast<size_t>(entry)];
  test.batch = 1;
  test.lengths = {};
  const auto of = [&](const at::Tensor& x) { return x.narrow(0, entry, 1).narrow(2, 0, test.seq); };
  const Problem problem{of(p.q), of(p.k), of(p.v), of(p.d_o)};
  Outcome part = outcome;
  for (const auto& [name, tensor] : kTensors) part.tensors.*tensor = of(outcome.tensors.*tensor);
  return Oracles::at("parity").judge({test, *ours(), problem, part, {}, [] {}});
}

// However long the others are, the first of them too: by bounds and sigmas of its own.
TEST(PaddedBatch, EachEntryIsJudgedAsIfItWereAlone) {
  for (const char* data : {"equal-keys", "spread3"})
    for (const char* lengths : {"3+22", "22+3", "9+22+0+1"}) {
      const Case test = parse_case(std::string("P2/full/hq4/hkv2/d8/dv12/float32/lengths:") + lengths + "/" + data);
      const Problem problem = problem_of(test);
      const Outcome outcome = solve_on_threads({test}, *ours());
      const auto whole = Oracles::at("parity").judge({test, *ours(), problem, outcome, {}, [] {}});
      std::vector<TensorVerdict> worst(whole.tensors.size());
      for (int64_t entry = 0; entry < test.batch; ++entry) {
        if (test.lengths[static_cast<size_t>(entry)] == 0) continue;
        const OracleVerdict alone = judged_alone(test, entry, problem, outcome);
        for (size_t i = 0; i < worst.size(); ++i) {
          worst[i].max_z = std::max(worst[i].max_z, alone.tensors.at(i).max_z);
          worst[i].hard_ratio = std::max(worst[i].hard_ratio, alone.tensors.at(i).hard_ratio);
        }
      }
      for (size_t i = 0; i < worst.size(); ++i) {
        const TensorVerdict& found = whole.tensors[i];
        const double little = 1e-6 * found.max_z;  // tiles of other shapes add up in another order
        EXPECT_NEAR(found.max_z, worst[i].max_z, little) << found.tensor << " of " << lengths << " " << data;
        EXPECT_NEAR(found.hard_ratio, worst[i].hard_ratio, little) << found.tensor << " of " << lengths << " " << data;
      }
    }
}

// So is what relations are told of the truth.
TEST(PaddedBatch, EachEntryHasTheSigmaOfItsLse) {
  for (const char* lengths : {"3+22", "22+3", "9+22+0+1"}) {
    const std::string shape = "P1/full/hq2/hkv2/d8/float32/equal-keys";
    const Case test = parse_case(shape + "/lengths:" + lengths);
    const Problem problem = problem_of(test);
    const Outcome outcome = solve_on_threads({test}, *ours());
    const at::Tensor sigma = truth_of(test, ours()->promise(test), problem, outcome, [] {}).sigma.lse;
    for (int64_t entry = 0; entry < test.batch; ++entry) {
      const int64_t length = test.lengths[static_cast<size_t>(entry)];
      if (length == 0) continue;
      const auto cut = [&](const at::Tensor& x) { return x.narrow(0, entry, 1).narrow(2, 0, length); };
      const Case alone = parse_case(shape + "/b1/s" + std::to_string(length));
      const Problem own{cut(problem.q), cut(problem.k), cut(problem.v), cut(problem.d_o)};
      const at::Tensor want = truth_of(alone, ours()->promise(alone), own, {}, [] {}).sigma.lse;
      EXPECT_TRUE(at::allclose(cut(sigma), want, 1e-9)) << lengths << ", entry " << entry;
    }
  }
}

// In a sample the pads are all looked at.
TEST(PaddedBatch, IsJudgedInASample) {
  EXPECT_EQ(judged(kPadded, ours(), 5).status, Status::kPass);
  EXPECT_EQ(judged(kPadded, spoilt_at(0, 15, &RankOutput::o), 5).status, Status::kFail);
}

TEST(PaddedBatch, PlantedBugsAreNamedWithTensorAndPlace) {
  for (const char* name : {"lengths_of_the_first_entry", "longest_entry_masks_all"})
    for (const std::string& text : Faults::at(name).cases) {
      const Verdict verdict = judged(text + "/bf16", Faults::at(name).subject);
      EXPECT_EQ(verdict.status, Status::kFail) << name;
      EXPECT_THAT(oracle(verdict, "parity").findings,
                  Contains(::testing::AllOf(HasSubstr("o: rank "), HasSubstr("batch "))))
          << name;
    }
}

TEST(PaddedBatch, IsAskedOnlyOfThoseWhoPromiseToTakeIt) {
  const SharedSubject silent = ours_with(context_parallel, [](Promise& promise) { promise.lengths = false; });
  const Verdict verdict = judged(kPadded, silent);
  EXPECT_EQ(verdict.status, Status::kNotSupported);
  EXPECT_THAT(verdict.reason, HasSubstr("different lengths"));
  EXPECT_EQ(judged("ring:p2p/headtail/causal/P3/b2/s22/hq4/hkv2/d8/float32", silent).status, Status::kPass);
}

// Equal keys have equal dV, which are rounded alike: of 36 keys, not of the 48 of the other entry.
TEST(PaddedBatch, ConservationCountsTheKeysOfEachEntry) {
  RunOptions options;
  options.judging.oracles = {"conservation"};
  const Verdict verdict = verify(parse_case("ulysses/contiguous/plain/full/P1/lengths:36+48/hq16/hkv16/d16/dv24/fp16/"
                                            "scale:0.0625/equal-keys/seed381325"), options);
  EXPECT_EQ(oracle(verdict, "conservation").status, Status::kPass);
}

TEST(PaddedBatch, IsTakenByAnUndividedSubject) {
  EXPECT_EQ(judged(std::string("subject:undivided[plain]/headtail/causal/P3/lengths:9+22+0+1+22/hq4/hkv2/"
                               "d8/dv12/float32"),
                   nullptr)
                .status,
            Status::kPass);
}

}  // namespace
}  // namespace ringcheck::parity
