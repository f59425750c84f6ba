// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "parity/judge/runner.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/kernels/kernel_blocks.h"
#include "property_tests/cp/attention/passes.h"

// Inputs on which published context parallelism was wrong, each with the public report. They stay
// as they are.
namespace ringcheck {
namespace {

// Everything the oracles found, "" on a pass.
std::string findings(const parity::Case& test) {
  at::set_num_threads(1);
  const parity::Verdict verdict = parity::verify(test, {});
  if (verdict.status == parity::Status::kPass)
    return "";
  std::string text =
      parity::to_text(test) + " " + parity::to_text(verdict.status) + " " + verdict.reason;
  for (const auto& oracle : verdict.oracles) {
    for (const auto& finding : oracle.findings)
      text += "; " + oracle.name + ": " + finding;
    for (const auto& tensor : oracle.tensors)
      text += "; " + tensor.tensor + " " + tensor.worst;
  }
  return text;
}

// The parts of a case that a report fixes, under every rotation and balancer.
void holds_everywhere(const std::string& parts) {
  int passed = 0;
  for (const char* rotation : {"p2p", "alltoall", "allgather", "allgather[keep]"})
    for (const char* balancer : {"contiguous", "headtail", "striped[1]", "striped[4]"}) {
      const parity::Case test =
          parity::parse_case(std::string("ring:") + rotation + "/" + balancer + "/" + parts);
      const std::string found = findings(test);
      EXPECT_EQ(found, "");
      passed += found.empty();
    }
  EXPECT_EQ(passed, 16);
}

// cu_seqlens [0,9,17,25,37,45,57] in padded [0,12,20,28,40,48,60] at two ranks: gradients exploded
// where a rank's second chunk was all padding. github.com/NVIDIA/TransformerEngine/issues/2186
TEST(Seeds, PaddedSequencesOfTransformerEngine2186) {
  for (const char* dtype : {"bf16", "float32", "float64"})
    holds_everywhere(std::string("doc[9:12,8,8,12,8,12]/P2/hq4/hkv2/d16/") + dtype);
}

// 698 tokens in 704 slots at four ranks: real keys were dropped where lengths were divided by the
// number of ranks. github.com/NVIDIA/TransformerEngine/issues/3331
TEST(Seeds, TailPaddingOfTransformerEngine3331) {
  for (const char* balancer : {"headtail", "contiguous"})
    EXPECT_EQ(findings(parity::parse_case(std::string("ring:p2p/") + balancer +
                                          "/causal/P4/hq2/hkv1/s698/d16/float32")),
              "");
  EXPECT_EQ(padded_length(698, Balancers::at("headtail").granule(1, 4)), 704);
}

// 7 tokens in 8 slots at two ranks were taken for 6.
// github.com/NVIDIA/TransformerEngine/issues/1929
TEST(Seeds, SevenTokensOfTransformerEngine1929) {
  holds_everywhere("causal/P2/hq2/hkv2/s7/d16/float32");
  holds_everywhere("doc[7:8]/P2/hq2/hkv2/d16/float32");
}

// Documents of 4 and 12 tokens at two ranks: results were right and the work was not balanced, so
// the work of each rank is stated. github.com/pytorch/pytorch/issues/189902
TEST(Seeds, DocumentWorkOfPyTorch189902) {
  holds_everywhere("doc[4,12]/P2/hq2/hkv2/d16/float32");
  const struct {
    const char* balancer;
    int64_t pairs[2];
  } expected[] = {{"contiguous", {20, 68}}, {"headtail", {52, 36}}, {"striped[1]", {40, 48}}};
  for (const auto& [balancer, pairs] : expected) {
    const Pass pass = run_pass(parity::parse_case(std::string("ring:p2p/") + balancer +
                                                  "/doc[4,12]/P2/hq1/hkv1/d8/float32"));
    for (int rank = 0; rank < 2; ++rank)
      EXPECT_EQ(pass.ranks[rank].ledger->sum(Phase::kForward).pairs, pairs[rank]) << balancer;
  }
}

// cu_seqlens [0,4,8] at two ranks: the second sequence took its RoPE from the first rows of the
// table. github.com/NVIDIA/Megatron-LM/issues/5243
TEST(Seeds, PackedRopeOfMegatron5243) {
  holds_everywhere("doc[4,4]/P2/hq2/hkv2/d16/float32/rope:half[10000]");
  holds_everywhere("doc[4,4]/P2/hq2/hkv2/d16/float32/rope:interleaved[10000]");
  // headtail gives rank 0 slots 0, 1 and 6, 7: tokens 0, 1 and 2, 3 of their documents.
  const Mask packed{DocumentCausal{{{4, 4}, {4, 4}}}, 8}, alone{Causal{}, 8};
  const Rope rope{Rope::Pairing::kHalf, 10000, {}};
  const at::Tensor x = normal({1, 2, 4, 16}, 1);
  const std::vector<Positions> layout = layout_of(Balancers::at("headtail"), {packed, 1}, 2).queries;
  EXPECT_EQ(difference(rotate(x, rope, packed, layout[0]), rotate(x, rope, alone, {{0, 4}})), "");
  EXPECT_EQ(
      difference(rotate(x, rope, packed, layout[1]), rotate(x, rope, alone, {{2, 2}, {0, 2}})), "");
}

// A pack of five documents: attention crossed their borders.
// github.com/axolotl-ai-cloud/axolotl/issues/3608
TEST(Seeds, PackOfFiveOfAxolotl3608) {
  holds_everywhere("doc[13,7,21,3,20]/P4/hq4/hkv2/d16/bf16");
  parity::Case test =
      parity::parse_case("ring:p2p/headtail/doc[13,7,21,3,20]/P4/hq2/hkv2/d8/float32");
  const parity::Problem p = parity::problem_of(test);
  const reference::Tensors packed = run_pass(test, p).whole;
  int64_t begin = 0;
  for (const int64_t length : {13, 7, 21, 3, 20}) {
    // Alone on one rank, a document has the results that it has in the pack, within the bounds.
    parity::Case alone = test;
    alone.mask = Causal{};
    alone.seq = length;
    const auto part = [&](const at::Tensor& x) { return x.narrow(2, begin, length); };
    const parity::Problem own{part(p.q), part(p.k), part(p.v), part(p.d_o)};
    Pass pass;
    pass.q_rotated = own.q;
    pass.k_rotated = own.k;
    EXPECT_EQ(beyond({part(packed.o), part(packed.lse), part(packed.dq), part(packed.dk),
                      part(packed.dv)},
                     judgement(alone, own, pass)),
              "");
    begin += length;
  }
}

// 3072 cached keys merged with 64 new ones: one side's LSE had base 2.
// github.com/sgl-project/sglang/issues/40903
TEST(Seeds, CachedPrefixOfSglang40903) {
  const int64_t cached = 3072, fresh = 64;
  const double scale = 0.25;
  const auto rows = [](int64_t begin, int64_t n) { return Positions{{begin, n}}; };
  const at::Tensor q = normal({1, 2, fresh, 16}, 1) * 1.75,
                   k = normal({1, 1, cached + fresh, 16}, 2) * 1.75;
  const at::Tensor v = normal({1, 1, cached + fresh, 16}, 3);
  const Mask mask{Causal{}, cached + fresh};
  // The rows of the new queries only: the others see what they see, of the same keys.
  const at::Tensor whole_q = at::cat({at::zeros({1, 2, cached, 16}), q}, 2);
  parity::Case plain;
  plain.kernel = "plain";
  plain.dtype = at::kFloat;
  const reference::Judgement truth = reference::judge(
      {whole_q, k, v, at::zeros_like(whole_q), mask, scale}, parity::contract_of(plain), 2, {});
  int merged = 0;
  for (const std::string& name : kernels_on(at::kCPU)) {
    const auto part = [&, kernel = AttentionKernels::at(name)](int64_t begin, int64_t n) {
      const KvBlock kv = pack(k.narrow(2, begin, n), v.narrow(2, begin, n), rows(begin, n));
      const QBlock queries{q, rows(cached, fresh)};
      const Scores scores{mask, scale};
      return kernel->forward(queries, kv, scores, visibility_of(queries, kv, scores));
    };
    const Partial sum = merge(part(0, cached), part(cached, fresh));
    const auto behind = [&](const at::Tensor& old, const at::Tensor& x) {
      return at::cat({old.narrow(2, 0, cached), x.to(at::kDouble)}, 2);
    };
    reference::Tensors actual = truth.value;
    actual.o = behind(truth.value.o, sum.out);
    actual.lse = behind(truth.value.lse, sum.lse);
    EXPECT_EQ(beyond(actual, truth), "") << name;
    ++merged;
  }
  EXPECT_GE(merged, 2);
}

// Lengths 17, 31 and 11, which no number of ranks divides, as packed by Megatron Core's tests of
// packed sequences. github.com/NVIDIA/Megatron-LM
TEST(Seeds, UnevenLengthsOfMegatronCore) {
  for (const int world : {2, 3, 4})
    holds_everywhere("doc[17,31,11]/P" + std::to_string(world) + "/hq4/hkv2/d16/float32");
}

// Fifteen ranks and random padding: beyond the tolerance, known and open.
// github.com/NVIDIA/TransformerEngine/pull/3489
TEST(Seeds, FifteenRanksOfTransformerEngine3489) {
  holds_everywhere("doc[23:31,40:41,5:30,61,1:17]/P15/hq2/hkv1/d16/bf16");
}

}  // namespace
}  // namespace ringcheck
