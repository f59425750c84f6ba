// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What explains a failure: known bugs are told by their name, and nothing is told of what is right.
#include "parity/judge/diagnosis/diagnosis.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "parity/faults/fault.h"
#include "parity/judge/against_reference.h"
#include "parity/judge/comparison.h"
#include "parity/judge/diagnosis/meanings.h"
#include "parity/judge/runner.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/parity/judge/diagnosis/right_answer.h"
#include "property_tests/property.h"

namespace ringcheck::parity {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

Verdict verdict_of_fault(const std::string& name, at::ScalarType dtype) {
  const Fault& fault = Faults::at(name);
  RunOptions run;
  run.subject = fault.subject;
  run.explained = true;
  return verify(cases_of(fault, dtype).at(0), run);
}

struct Told {
  const char* fault;
  const char* line;
};

TEST(Diagnosis, TellsKnownBugs) {
  const Told known[] = {
      {"causal_misses_itself", "o, lse, dq, dk and dv: as if no query saw its own key"},
      {"causal_sees_next_key", "o, lse, dq, dk and dv: as if each query saw the key after it, too"},
      {"window_ignored", "o, lse, dq, dk and dv: as if the mask were causal"},
      {"document_boundary_ignored", "o, lse, dq, dk and dv: as if the mask were causal"},
      {"causal_by_local_position", "o, lse, dq, dk and dv: as if positions were counted within the shards"},
      {"context_parallelism_off", "o, lse, dq, dk and dv: as if every rank attended to its own keys alone"},
      {"other_blocks_unmasked", "o, lse, dq, dk and dv: as if the mask held for own keys alone, and all others were seen"},
      {"wrong_owner", "o, lse, dq, dk and dv: as if a ring went round the other way: each block were taken for that of the opposite neighbour"},
      {"hop_skipped", "o, lse and dq: as if the block of step 1 of a ring were missing"},
      {"zigzag_taken_for_contiguous", "o: as if shards were put together contiguous"},
      {"scale_applied_twice", "o, lse, dq, dk and dv: as if scores were scaled twice, or the scale of the scores were 1/dim"},
      {"default_scale_always", "o, lse, dq, dk and dv: as if the scale of the scores were 1/sqrt(dim), or scores were scaled twice"},
      {"delta_zero", "dq and dk: as if D, the row sum of dO O, were left out"},
      {"backward_without_mask_on_other_blocks", "dq, dk and dv: as if the backward pass had a mask for own keys alone"},
      {"pad_key_of_zeros_attended", "o, lse, dq, dk and dv: as if pad slots of ranks were attended, as keys and values of zeros"},
      {"backward_with_block_lse", "dq, dk and dv: as if the backward pass took the LSE of each block in place of that of all keys"},
      {"gradients_not_reduced", "dk and dv: as if gradients of keys held only what the queries of their own rank add, not summed over ranks"},
      {"dq_misses_last_step", "dq: as if gradients lacked the terms of step 2 of a ring"},
      {"heads_shared_modulo", "o, lse and dq (in heads 1 and 4 alone): as if query head h read key-value head h mod their number"},
      {"rope_of_interleaved_pairs", "o, lse, dq, dk and dv: as if channels were paired with their neighbours, interleaved"},
      {"rope_restarts_in_every_shard", "o, lse, dq, dk and dv: as if positions were counted within the shards, by the rotary embedding"},
      {"rope_gradient_not_turned_back", "dq and dk: as if gradients were not rotated back"},
      {"rope_gradient_turned_forward", "dq and dk: as if gradients were rotated forward once more, and not back"},
  };
  for (const auto& [name, line] : known)
    for (const at::ScalarType dtype : {at::kDouble, at::kFloat}) {
      const Verdict verdict = verdict_of_fault(name, dtype);
      EXPECT_EQ(verdict.status, Status::kFail) << name;
      EXPECT_THAT(verdict.explained, Contains(line)) << name << " in " << to_text(verdict.test);
    }
}

// What was rounded to 16 bits lies near it, too.
TEST(Diagnosis, TellsThemInSixteenBits) {
  const Told known[] = {{"causal_sees_next_key", "as if each query saw the key after it, too"},
                        {"context_parallelism_off", "as if every rank attended to its own keys alone"},
                        {"scale_applied_twice", "as if scores were scaled twice"},
                        {"delta_zero", "dq and dk: as if D, the row sum of dO O, were left out"},
                        {"gradients_not_reduced", "dk and dv: as if gradients of keys held only what the queries of their own rank add"}};
  for (const auto& [name, line] : known)
    for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf})
      EXPECT_THAT(verdict_of_fault(name, dtype).explained, Contains(HasSubstr(line))) << name;
}

TEST(Diagnosis, TellsFactorsAndWhatTheyMayBe) {
  EXPECT_THAT(verdict_of_fault("gradient_over_world", at::kFloat).explained,
              ElementsAre("dq, dk and dv: 0.333 times what is expected; it may be 1 over the number of ranks"));
  EXPECT_THAT(verdict_of_fault("gradient_scale_missing_in_dk", at::kFloat).explained,
              ElementsAre("dk: 4 times what is expected; it may be 1 over the softmax scale"));
  EXPECT_THAT(verdict_of_fault("lse_returned_in_base_2", at::kFloat).explained,
              ElementsAre(HasSubstr("lse: 1.44 times what is expected; it may be 1 over ln 2, of scores in base 2")));
  EXPECT_THAT(verdict_of_fault("dq_zero", at::kFloat).explained, ElementsAre("dq: zero"));
  const Scene scene{0.125, 4, 2};
  EXPECT_EQ(meaning_of(0.125, 1e-3, scene), "; it may be the softmax scale");
  EXPECT_EQ(meaning_of(0.0625, 1e-3, scene), "; it may be 1 over the number of ranks squared");
  EXPECT_EQ(meaning_of(0.125, 1e-3, {0.125, 4, 2, true}), "; it may be the softmax scale, or 1 of 8 microbatches");
  EXPECT_EQ(meaning_of(0.77, 1e-3, scene), "");
  EXPECT_EQ(meaning_of(-1, 1e-3, scene), "; it may be a sign");
  EXPECT_EQ(meaning_of(2, 0.01, scene), "; it may be the query heads of a group");
  EXPECT_EQ(meaning_of(4, 1, scene), "") << "so wide that it is no number in particular";
}

// Where the rotated q and k alone are judged wrong, all tensors are looked at; where counters alone are, none.
TEST(Diagnosis, LooksAtWhatIsWrongInValues) {
  EXPECT_THAT(verdict_of_fault("rope_missing_on_k", at::kFloat).explained, ElementsAre(HasSubstr("o, lse, dq and dv: as if queries alone were rotated")));
  const Verdict counters = verdict_of_fault("clone_per_hop", at::kFloat);
  EXPECT_EQ(counters.status, Status::kFail);
  EXPECT_THAT(counters.explained, IsEmpty());
}

// Ranks by themselves, where they differ.
TEST(Diagnosis, TellsRanksApart) {
  EXPECT_THAT(verdict_of_fault("mean_over_the_shard", at::kDouble).explained,
              Contains(HasSubstr("dq, dk and dv at rank 2: 1.15 times")));
  EXPECT_THAT(verdict_of_fault("gradient_term_lost_on_a_rank", at::kDouble).explained,
              Contains("dk and dv at rank 0: as if gradients of keys lacked what the queries of rank 1 add"));
}

TEST(Diagnosis, LeavesLargeCasesAlone) {
  RunOptions run;
  run.explained = true;
  run.subject = Faults::at("causal_misses_itself").subject;
  const Verdict large = verify(parse_case("subject:planted[causal_misses_itself]/causal/P2/hq8/hkv1/s300"), run);
  EXPECT_EQ(large.status, Status::kFail);
  EXPECT_THAT(large.explained, IsEmpty()) << "8 x 300 x 300 scores of a head are more than 2^19";
}

const std::set<std::string> kAll{"o", "lse", "dq", "dk", "dv"};

// Noise is near no mistake, however small it is, or the case: a mistake that makes no difference in it is not told.
TEST(Diagnosis, TakesNoNoiseForAMistake) {
  for (const char* text : {"full/P3/b2/hq4/hkv2/s36/d16", "causal/P3/b2/hq4/hkv2/s36/d16", "window[9]/P3/b2/hq4/hkv2/s36/d16",
                           "doc[9,27]/P3/b2/hq4/hkv2/s36/d16", "doc[9:12,20:24]/P3/b2/hq2/hkv2/s36/d16", "prefix[5]/P3/b2/hq4/hkv2/s36/d16",
                           "causal/striped[2]/P3/b3/lengths:36+0+11/hq4/hkv2/s36/d16", "causal/P3/b2/hq4/hkv1/s36/d16/rope:half[10000]",
                           "causal/P1/b1/hq1/hkv1/s2/d2", "causal/P4/b1/hq1/hkv1/s3/d2", "causal/P6/b1/hq1/hkv1/s6/d2"})
    for (const double size : {0., 1e-12, 1e-6, 1e-3, 0.3, 10.}) {
      Judged judged = right(std::string(text) + "/float64");
      at::manual_seed(7);
      for (const NamedTensor& named : kTensors) {
        at::Tensor& x = judged.outcome.tensors.*named.tensor;
        x = at::where(x.isfinite() & (x != 0), x + size * at::randn_like(x), x);
      }
      for (const char* word : {"as if", "times", "zero"})
        EXPECT_THAT(judged.lines(kAll), Not(Contains(HasSubstr(word)))) << text << " " << size;
    }
}

TEST(Diagnosis, TellsWhereATensorIsWrong) {
  const auto spoilt = [](at::ScalarType dtype, const std::function<at::Tensor(const at::Tensor&)>& part) {
    Judged judged = right("causal/contiguous/P4/b2/hq8/hkv4/s64/d16/" + dtype_text(dtype));
    at::Tensor& dq = judged.outcome.tensors.dq;
    dq = dq.to(dtype);  // with its roundings everywhere
    at::manual_seed(7);
    at::Tensor some = part(dq);
    some.copy_(at::randn_like(some));
    return judged.lines({"dq"});
  };
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat}) {
    EXPECT_THAT(spoilt(dtype, [](const at::Tensor& x) { return x.select(1, 3); }), ElementsAre("dq: wrong in head 3 alone"));
    EXPECT_THAT(spoilt(dtype, [](const at::Tensor& x) { return x.select(0, 1); }), ElementsAre("dq: wrong in batch entry 1 alone"));
    EXPECT_THAT(spoilt(dtype, [](const at::Tensor& x) { return x.narrow(3, 12, 4); }), ElementsAre("dq: wrong in channels 12 to 15 alone"));
    EXPECT_THAT(spoilt(dtype, [](const at::Tensor& x) { return x.narrow(2, 16, 16); }),
                ElementsAre("dq: wrong at rank 1 and at positions 16 to 31 alone"));
    EXPECT_THAT(spoilt(dtype, [](const at::Tensor& x) { return x; }), IsEmpty());
  }
}

TEST(Diagnosis, TellsOfFactorsNearOne) {
  Judged judged = right("causal/P3/b2/hq4/hkv2/s36/d16/float64");
  judged.outcome.tensors.dq.mul_(1 + 1e-7);
  EXPECT_THAT(judged.lines({"dq"}), ElementsAre("dq: 1 + 1e-07 times what is expected"));
}

// Two tensors by two mistakes; what is wrong in one head alone, whichever.
TEST(Diagnosis, TellsOfEachTensorAndHead) {
  const Judged full = right("full/P3/b2/hq4/hkv2/s36/d16/float64");
  Judged judged = right("causal/P3/b2/hq4/hkv2/s36/d16/float64");
  judged.outcome.tensors.o = full.outcome.tensors.o;
  judged.outcome.tensors.dv.mul_(2);
  EXPECT_THAT(judged.lines({"o", "dv"}), UnorderedElementsAre("o: as if there were no mask", HasSubstr("dv: 2 times what is expected")));
  for (const int64_t head : {0, 1}) {
    judged = right("causal/P3/b2/hq4/hkv2/s36/d16/float64");
    judged.outcome.tensors.dk.select(1, head).copy_(full.outcome.tensors.dk.select(1, head));
    EXPECT_THAT(judged.lines({"dk"}), ElementsAre(c10::str("dk (in key-value head ", head, " alone): as if there were no mask")));
  }
}

// Padded batches: LSE is -inf behind the tokens, whatever it is multiplied by.
TEST(Diagnosis, TellsFactorsOfPaddedBatches) {
  Judged judged = right("causal/P2/b2/lengths:20+12/hq4/hkv2/s20/d16/float64");
  judged.outcome.tensors.lse.mul_(3);
  EXPECT_THAT(judged.lines({"lse"}), ElementsAre("lse: 3 times what is expected"));
}

// A mistake of one head is told with the head.
TEST(Diagnosis, TellsWhereAMistakeIs) {
  Judged judged = right("causal/P3/b2/hq4/hkv2/s36/d16/float64");
  judged.outcome.tensors.dk.select(1, 1).mul_(4);
  const std::vector<std::string> lines = judged.lines({"dk"});
  EXPECT_THAT(lines, ElementsAre("dk: wrong in key-value head 1 alone")) << "a factor of all it is not";
  const Judged full = right("full/P3/b2/hq4/hkv2/s36/d16/float64");
  judged = right("causal/P3/b2/hq4/hkv2/s36/d16/float64");
  judged.outcome.tensors.o.select(1, 3).copy_(full.outcome.tensors.o.select(1, 3));
  EXPECT_THAT(judged.lines({"o"}), Contains(HasSubstr("in head 3")));
}

TEST(Diagnosis, TellsOfNumbersThatWereRounded) {
  Judged judged = right("causal/P3/b2/hq4/hkv2/s36/d16/float64");
  at::manual_seed(7);
  judged.outcome.tensors.o = judged.outcome.tensors.o.to(at::kBFloat16).to(at::kDouble);
  judged.outcome.tensors.lse = judged.outcome.tensors.lse * (1 + 0x1p-9 * at::randn({2, 4, 36}, at::kDouble));
  EXPECT_THAT(judged.lines({"o", "lse"}), ElementsAre("o: every number is exactly one of bf16, as if rounded to it",
                                                      "lse: off all over by little: roundings to bf16 on the way could leave as much"));
}

TEST(Diagnosis, OfNanSaysWhenceItMayCome) {
  for (const auto& [text, line] : {std::pair("causal/P3/b2/hq4/hkv2/s36/d16/float64", "NaN"),
                                   {"causal/P3/b2/hq4/hkv2/s35/d16/float64", "NaN, which slots without a token hold here: 0 times NaN is NaN"}})
    for (const int64_t head : {0, 1}) {
      Judged judged = right(text);
      judged.outcome.tensors.dk.select(1, head).fill_(std::numeric_limits<double>::quiet_NaN());
      EXPECT_THAT(judged.lines({"dk"}), ElementsAre(c10::str("dk (in key-value head ", head, " alone): ", line)));
    }
}

TEST(Diagnosis, TellsOfAnotherOrder) {
  const auto lines = [](const std::function<void(reference::Tensors&)>& change) {
    Judged judged = right("causal/P3/b2/hq8/hkv4/s36/d16/float64");
    change(judged.outcome.tensors);
    return judged.lines({"dk", "dq"});
  };
  EXPECT_THAT(lines([](auto& x) { x.dk = x.dk.roll(1, 1); }), ElementsAre("dk: as if each head held what the one 3 places further on should"));
  EXPECT_THAT(lines([](auto& x) { x.dk = x.dk.roll(1, 0); }), ElementsAre("dk: as if each batch entry held what the one 1 place further on should"));
  EXPECT_THAT(lines([](auto& x) { x.dq = x.dq.view({2, 4, 2, 36, 16}).transpose(1, 2).reshape({2, 8, 36, 16}); }),
              ElementsAre("dq: as if heads lay by their number in a group, and not by groups"));
  EXPECT_THAT(lines([](auto& x) { x.dq = x.dq.view({2, 2, 4, 36, 16}).transpose(1, 2).reshape({2, 8, 36, 16}); }),
              ElementsAre("dq: as if heads lay by groups, where they were taken by their number in one"));
  EXPECT_THAT(lines([](auto& x) { x.dk = x.dk.view({2, 4, 36, 2, 8}).transpose(3, 4).reshape({2, 4, 36, 16}); }),
              ElementsAre("dk: as if channels by halves were interleaved"));
  EXPECT_THAT(lines([](auto& x) { x.dk = x.dk.flip(2); }), ElementsAre("dk: as if tokens were in reversed order"));
}

// What pads hold is wrong where they are.
TEST(Diagnosis, OfPadsSaysWhereTheyAre) {
  Judged judged = right("causal/contiguous/P2/b2/lengths:20+12/hq4/hkv2/s20/d16/float64");
  judged.outcome.tensors.o.select(0, 1).narrow(1, 12, 8).fill_(1);
  EXPECT_THAT(judged.lines({"o"}), ElementsAre("o: wrong in batch entry 1, at rank 1 and at positions 12 to 19 alone"));
}

// The truth of a diagnosis is that of the reference, whatever the case is: three times the reference is told as such.
RC_GTEST_PROP(Diagnosis, ItsTruthIsThatOfTheReference, ()) {
  const Case drawn = *gen::test_case().as("case");
  Judged judged = right(to_text(drawn));
  std::set<std::string> signal;
  for (const NamedTensor& named : kTensors) {
    at::Tensor& x = judged.outcome.tensors.*named.tensor;
    if ((x.isfinite() & (x.abs() > 1e-6)).sum().item<int64_t>() >= 16) signal.insert(named.name);
    x = x * 3;
  }
  const std::vector<std::string> lines = judged.lines(signal);
  RC_LOG() << (lines.empty() ? "nothing" : lines.front());
  RC_ASSERT(lines.size() == (signal.empty() ? 0U : 1U));
  for (const std::string& line : lines) {
    RC_ASSERT(line.find(": 3 times what is expected") != std::string::npos);
    for (const std::string& name : signal) RC_ASSERT(line.find(name) < line.find(':'));
  }
}

}  // namespace
}  // namespace ringcheck::parity
