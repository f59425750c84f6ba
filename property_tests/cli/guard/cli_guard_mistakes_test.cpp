// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What the real command makes of the usual mistakes: a right dump passes, the wrong one fails and its
// mistake is named.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "property_tests/cli/guard/guard_dump.h"
#include "property_tests/parity/case/generators.h"
#include "reference/rope.h"

namespace ringcheck::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using nlohmann::json;
using Texts = std::vector<std::string>;

constexpr const char* kOfQueries[] = {"q", "o", "do", "dq"};
constexpr const char* kOfKeys[] = {"k", "v", "dk", "dv"};

class GuardMistakes : public GuardTest {
 protected:
  // Every test begins with a right dump: nothing is found, and no mistake is seen in it.
  void SetUp() override {
    ASSERT_EQ(run({"--json", folder_.file("json")}).code, 0);
    EXPECT_THAT(result()["would_fit"], IsEmpty());
  }
  // The mistakes that are named in a dump that must fail.
  Texts fits(bool shards = false) {
    const Texts words{"--json", folder_.file("json")};
    const Ran ran = shards ? run_shards(words) : run(words);
    EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
    Texts mistakes;
    said_.clear();
    const json found = result()["would_fit"];
    for (const json& fit : found) {
      mistakes.push_back(fit["mistake"]);
      said_ += fit["says"].get<std::string>() + "\n";
      EXPECT_THAT(words_of(ran.out), HasSubstr("would fit: " + fit["says"].get<std::string>()));
    }
    if (shards) {
      run_shards(words, {2, 0, 1, 3});
      const json other = result()["would_fit"];
      EXPECT_EQ(other.size(), found.size()) << "whatever the order of the files";
      for (size_t i = 0; i < std::min(other.size(), found.size()); ++i) EXPECT_EQ(other[i]["says"], found[i]["says"]);
    }
    return mistakes;
  }
  double factor() const { return result()["would_fit"][0]["factor"].get<double>(); }

  std::string said_;
};

// What is no usual mistake is not taken for one.
TEST_F(GuardMistakes, WhatIsNoneOfThemIsNotNamed) {
  const auto clean = whole_;
  const auto spoilt = [&](const char* name, const std::function<void(at::Tensor&)>& spoil) {
    whole_ = clean;
    spoil((*this)[name]);
    EXPECT_THAT(fits(), IsEmpty()) << name << ": " << said_;
  };
  spoilt("dv", [](at::Tensor& x) { x.zero_(); });
  spoilt("dv", [](at::Tensor& x) { x.narrow(2, 64, 64).mul_(2); });
  spoilt("dv", [](at::Tensor& x) { x = x.roll(32, 2); });
  spoilt("dv", [](at::Tensor& x) { x = x * (1 + 0.1 * at::arange(32, x.options())); });
  spoilt("dk", [](at::Tensor& x) { x.fill_(0.5); });
  spoilt("dk", [](at::Tensor& x) { x.add_(1); });
  spoilt("dq", [](at::Tensor& x) { x.narrow(2, 128, 64).zero_(); });
  spoilt("o", [](at::Tensor& x) { x.narrow(2, 192, 64).zero_(); });
  spoilt("do", [](at::Tensor& x) { x = x.flip(1); });
}

TEST_F(GuardMistakes, AFactorOfDv) {
  (*this)["dv"].mul_(4);
  EXPECT_THAT(fits(), ElementsAre("factor"));
  EXPECT_NEAR(factor(), 4, 0.05);
  EXPECT_THAT(said_, HasSubstr("times what do asks for"));
  EXPECT_THAT(said_, HasSubstr("4 equal microbatches added up"));
  EXPECT_THAT(said_, Not(HasSubstr("the number of ranks"))) << "one file says nothing of ranks";
  EXPECT_THAT(fits(true), ElementsAre("factor"));
  EXPECT_THAT(said_, HasSubstr("the number of ranks, or"));
}

TEST_F(GuardMistakes, ADoThatLacksAFactor) {
  (*this)["do"].mul_(std::ldexp(1, -10));
  EXPECT_THAT(fits(), ElementsAre("factor"));
  EXPECT_NEAR(factor(), 1024, 10);
  EXPECT_THAT(said_, HasSubstr("or a do that lacks the factor"));
  EXPECT_THAT(said_, HasSubstr("a loss scale of 2^10"));
}

TEST_F(GuardMistakes, ASoftmaxScaleThatDkLacks) {
  (*this)["dk"].mul_(4);
  EXPECT_THAT(fits(), ElementsAre("factor"));
  EXPECT_NEAR(factor(), 4, 0.1);
  EXPECT_THAT(said_, HasSubstr("times what dq asks for"));
  EXPECT_THAT(said_, HasSubstr("1 over the softmax scale"));
  EXPECT_THAT(said_, HasSubstr("or dq 0.2"));
}

TEST_F(GuardMistakes, AScoreInBaseTwo) {
  step({Causal{}, 256}, at::kFloat);
  (*this)["dq"].mul_(std::log(2));
  EXPECT_THAT(fits(), ElementsAre("factor"));
  EXPECT_THAT(said_, HasSubstr("ln 2, of scores in base 2"));
}

TEST_F(GuardMistakes, AFactorOfO) {
  (*this)["o"].mul_(0.5);
  EXPECT_THAT(fits(), ElementsAre("factor"));
  EXPECT_NEAR(factor(), 0.5, 0.02);
  EXPECT_THAT(said_, HasSubstr("o 0."));
}

TEST_F(GuardMistakes, AFactorOfOneRank) {
  (*this)["dv"].narrow(2, 128, 64).mul_(2);
  EXPECT_THAT(fits(true), ElementsAre("factor"));
  EXPECT_NEAR(factor(), 2, 0.1);
  EXPECT_THAT(said_, HasSubstr("dv of rank 2"));
}

TEST_F(GuardMistakes, TensorsFromBeforeRope) {
  reference::Rope rope;
  rope.pairing = reference::Rope::Pairing::kHalf;
  for (const char* name : {"q", "k", "dq", "dk"}) {
    at::Tensor& x = (*this)[name];
    x = rotate_back(x.to(at::kDouble), {Causal{}, 256}, rope).to(x.scalar_type());
  }
  EXPECT_THAT(fits(), ElementsAre("unrotated"));
  EXPECT_THAT(said_, HasSubstr("say --unrotated"));
  EXPECT_EQ(run({"--unrotated"}).code, 0);
}

TEST_F(GuardMistakes, HeadsAndSequenceExchanged) {
  whole_.tensors.erase("lse");
  for (const auto& names : {kOfQueries, kOfKeys})
    for (int i = 0; i < 4; ++i) (*this)[names[i]] = whole_.tensors[names[i]].transpose(1, 2).contiguous();
  EXPECT_THAT(fits(), ElementsAre("layout"));
  EXPECT_THAT(said_, HasSubstr("[batch, seq, heads, dim]"));
}

TEST_F(GuardMistakes, AnotherOrderOfGroups) {
  const at::Tensor order = at::tensor({0, 2, 1, 3});
  for (const char* name : {"q", "o", "do", "dq", "lse"})
    (*this)[name] = whole_.tensors[name].index_select(1, order);
  EXPECT_THAT(fits(), ElementsAre("grouping"));
}

TEST_F(GuardMistakes, GradientsOfOneHeadOfTheGroup) {
  // dV and dK of the second query head of each group: of attention with that head alone.
  const parity::Safetensors whole = whole_;
  const at::Tensor heads = at::tensor({1, 3});
  const auto p_dv = [&](const char* name) { return whole.tensors.at(name).index_select(1, heads); };
  const at::Tensor q = p_dv("q").to(at::kDouble), k = whole.tensors.at("k").to(at::kDouble),
                   v = whole.tensors.at("v").to(at::kDouble), d_o = p_dv("do").to(at::kDouble);
  const at::Tensor hidden = at::ones({256, 256}, at::kBool).triu(1);
  const at::Tensor p = (q.matmul(k.mT()) * 0.25).masked_fill(hidden, -INFINITY).softmax(-1);
  const at::Tensor g = d_o.matmul(v.mT()), ds = p * (g - (p * g).sum(-1, true));
  (*this)["dv"] = p.mT().matmul(d_o).to(at::kBFloat16);
  (*this)["dk"] = (ds.mT().matmul(q) * 0.25).to(at::kBFloat16);
  EXPECT_THAT(fits(), ElementsAre("unreduced"));
  EXPECT_THAT(said_, HasSubstr("query head 1 of each group of 2"));
}

TEST_F(GuardMistakes, SumsOverTheGroupForEveryRepeatedHead) {
  for (const char* name : kOfKeys) (*this)[name] = whole_.tensors[name].repeat_interleave(2, 1);
  EXPECT_THAT(fits(), Contains("expanded"));
}

// By their shapes: refused before any law.
TEST_F(GuardMistakes, GradientsThatTheShapesGiveAway) {
  for (const char* name : {"dk", "dv"}) (*this)[name] = whole_.tensors[name].repeat_interleave(2, 1);
  Ran ran = run();
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("dk and dv have a head for each of q: add up each group of 2"));
  step({Causal{}, 256});
  (*this)["o"] = whole_.tensors["o"].transpose(1, 2).contiguous();
  (*this)["do"] = whole_.tensors["do"].transpose(1, 2).contiguous();
  ran = run();
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("some are [batch, seq, heads, dim]"));
  step({Causal{}, 256});
  for (const auto& names : {kOfQueries, kOfKeys})
    for (int i = 0; i < 4; ++i) (*this)[names[i]] = whole_.tensors[names[i]].transpose(1, 2).contiguous();
  EXPECT_THAT(run().err, HasSubstr("would fit tensors dumped as [batch, seq, heads, dim]"));
}

TEST_F(GuardMistakes, QueriesThatSeeNoKey) {
  step({DocumentCausal{{{250, 256}}}, 256});
  (*this)["do"].narrow(2, 250, 6).fill_(20);
  EXPECT_EQ(run().code, 0);
  whole_.tensors.erase("lse");
  EXPECT_THAT(fits(), ElementsAre("empty_rows")) << said_;
  (*this)["do"].narrow(2, 250, 6).zero_();
  EXPECT_EQ(run().code, 0);
}

TEST_F(GuardMistakes, NamesExchanged) {
  std::swap(whole_.tensors["dk"], whole_.tensors["dv"]);
  EXPECT_THAT(fits(), ElementsAre("names"));
  EXPECT_THAT(said_, HasSubstr("dk and dv dumped under each other's names"));
}

TEST_F(GuardMistakes, GradientsOfAnotherRank) {
  for (const char* name : {"dk", "dv"}) (*this)[name] = whole_.tensors[name].roll(64, 2);
  EXPECT_THAT(fits(true), ElementsAre("order"));
  EXPECT_THAT(said_, HasSubstr("dk and dv of each rank that belong to the rank before it"));
  step({Causal{}, 256});
  (*this)["dq"] = whole_.tensors["dq"].roll(-64, 2);
  EXPECT_THAT(fits(true), ElementsAre("order"));
  EXPECT_THAT(said_, HasSubstr("dq of each rank that belong to the rank after it"));
}

TEST_F(GuardMistakes, HeadTailOrder) {
  std::vector<at::Tensor> chunks = whole_.tensors["o"].chunk(8, 2), balanced;
  for (int rank = 0; rank < 4; ++rank) balanced.insert(balanced.end(), {chunks[rank], chunks[7 - rank]});
  (*this)["o"] = at::cat(balanced, 2);
  EXPECT_THAT(fits(), ElementsAre("order"));
  EXPECT_THAT(said_, HasSubstr("o in the head-tail order of 4 ranks"));
}

// PyTorch's attention on CPUs, 256 roundings of dK and dV; the first queries ask for most.
TEST_F(GuardMistakes, SumsInSixteenBits) {
  const auto drawn = [](int64_t seq, uint64_t seed) {
    return normal({1, 2, seq, 16}, seed, at::kBFloat16);
  };
  const at::Tensor q = drawn(1 << 16, 1), k = drawn(64, 2), v = drawn(64, 3), d_o = drawn(1 << 16, 4);
  d_o.narrow(2, 0, 256).mul_(32);
  const auto [o, lse] = at::_scaled_dot_product_flash_attention_for_cpu(q, k, v);
  const auto [dq, dk, dv] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      d_o, q, k, v, o, lse, 0.0, false);
  whole_ = {{{"q", q}, {"k", k}, {"v", v}, {"o", o}, {"do", d_o}, {"dq", dq}, {"dk", dk}, {"dv", dv}}, {}};
  for (auto& [name, tensor] : whole_.tensors) tensor = tensor.contiguous();
  EXPECT_THAT(fits(), ElementsAre("accumulation")) << said_;
  EXPECT_THAT(said_, HasSubstr("say --accumulation bf16[256]"));
}

}  // namespace
}  // namespace ringcheck::testing
