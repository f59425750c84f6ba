// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The real command on dumps of a correct run, and on dumps that are spoilt.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "parity/case/safetensors.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/cli/program.h"
#include "reference/attention.h"

namespace ringcheck::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using nlohmann::json;
using Words = std::vector<std::string>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Dumps of a correct bf16 run: four shards of a sequence.
class Guard : public ::testing::Test {
 protected:
  static constexpr int kShards = 4;
  Guard() {
    const Mask mask{Causal{}, 256};
    const auto drawn = [](int64_t heads, uint64_t seed) {
      return normal({1, heads, 256, 32}, seed, at::kBFloat16);
    };
    const reference::Inputs in{drawn(4, 1), drawn(2, 2), drawn(2, 3), drawn(4, 4), mask, 0.25};
    const reference::Tensors out = reference::naive_attention(in);
    const auto bf16 = [](const at::Tensor& x) { return x.to(at::kBFloat16); };
    whole_.tensors = {{"q", in.q},          {"k", in.k},         {"v", in.v},
                      {"do", in.d_o},       {"o", bf16(out.o)},  {"dq", bf16(out.dq)},
                      {"dk", bf16(out.dk)}, {"dv", bf16(out.dv)}, {"lse", out.lse.to(at::kFloat)}};
    whole_.metadata = {{"scale", "0.25"}};
  }
  Ran run(Words words = {}) {
    parity::write_safetensors(path("whole"), whole_);
    words.insert(words.begin(), {"guard", path("whole")});
    return ringcheck(words);
  }
  Ran run_shards(Words words = {}) {
    words.insert(words.begin(), "guard");
    for (int rank = 0; rank < kShards; ++rank) {
      parity::Safetensors shard{{}, {{"scale", "0.25"}, {"rank", std::to_string(rank)}, {"world", "4"}}};
      for (const auto& [name, tensor] : whole_.tensors)
        shard.tensors[name] = tensor.narrow(2, 64 * rank, 64).clone();
      words.push_back(path(std::to_string(rank)));
      parity::write_safetensors(words.back(), shard);
    }
    return ringcheck(words);
  }
  std::string path(const std::string& name) const { return folder_.file(name + ".safetensors"); }
  json result() const { return json::parse(read_text(folder_.file("json"))).at("guard"); }

  Folder folder_;
  parity::Safetensors whole_;
};

TEST_F(Guard, ACorrectRunPasses) {
  const Ran ran = run({"--json", folder_.file("json")});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("C1 sum dV = sum dO"));
  const json all = result();
  EXPECT_EQ(all["verdict"], "pass");
  EXPECT_EQ(all["dtypes"], "bf16");
  ASSERT_EQ(all["laws"].size(), 4);
  for (const json& law : all["laws"]) {
    EXPECT_EQ(law["verdict"], "pass");
    EXPECT_LT(law["z"].get<double>(), 8);
    EXPECT_EQ(law["heads"], 2);
    EXPECT_GE(law["counted"], 1);
  }
}

TEST_F(Guard, ShardsAreJudgedTogether) {
  const Ran ran = run_shards({"--json", folder_.file("json")});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const json together = result();
  ASSERT_EQ(run({"--json", folder_.file("json")}).code, 0);
  for (int law = 0; law < 4; ++law)
    EXPECT_NEAR(together["laws"][law]["z"].get<double>(), result()["laws"][law]["z"].get<double>(), 1e-6);
  EXPECT_EQ(together["files"].size(), 4);
  // One of them alone is not the sequence.
  const Ran one = ringcheck({"guard", path("2")});
  EXPECT_EQ(one.code, 2);
  EXPECT_THAT(one.err, HasSubstr("0 files say that they are rank 0 of 4"));
  write_text(path("again"), read_text(path("1")));
  const Ran twice = ringcheck({"guard", path("0"), path("1"), path("again"), path("2"), path("3")});
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("2 files say that they are rank 1"));
}

TEST_F(Guard, WhatIsWrongFails) {
  const parity::Safetensors clean = whole_;
  const struct {
    const char* tensor;
    const char* law;
    std::function<void(at::Tensor&)> spoil;
  } table[] = {{"dv", "C1", [](at::Tensor& x) { x.mul_(4); }},
               {"dv", "C1", [](at::Tensor& x) { x.zero_(); }},
               {"dk", "C2", [](at::Tensor& x) { x.narrow(2, 0, 64).zero_(); }},
               {"dq", "C3", [](at::Tensor& x) { x.zero_(); }},
               {"dk", "C3", [](at::Tensor& x) { x.fill_(0.5); }},
               {"o", "C4", [](at::Tensor& x) { x.narrow(2, 192, 64).zero_(); }}};
  for (const auto& wrong : table) {
    whole_ = clean;
    whole_.tensors[wrong.tensor] = clean.tensors.at(wrong.tensor).clone();
    wrong.spoil(whole_.tensors[wrong.tensor]);
    const Ran ran = run();
    EXPECT_EQ(ran.code, 1) << wrong.tensor << ran.err;
    EXPECT_THAT(ran.out, HasSubstr(std::string("FAIL  ") + wrong.law)) << wrong.tensor;
  }
}

TEST_F(Guard, ANanFailsWhereverItIs) {
  for (const char* name : {"q", "k", "v", "o", "do", "dq", "dk", "dv"}) {
    const parity::Safetensors clean = whole_;
    whole_.tensors[name] = whole_.tensors[name].clone();
    whole_.tensors[name][0][1][5][3] = kNan;
    const Ran ran = run({"--json", folder_.file("json")});
    EXPECT_EQ(ran.code, 1) << name;
    EXPECT_THAT(ran.out, HasSubstr(std::string(name) + " has 1 values that are not finite, the first at [0, 1, 5, 3]"));
    EXPECT_EQ(result()["verdict"], "fail");
    whole_ = clean;
  }
  whole_.tensors["lse"][0][1][5] = kNan;
  EXPECT_EQ(run().code, 1);
}

// A row whose LSE is -inf sees no key: its dO stands outside C1, and it must be empty.
TEST_F(Guard, RowsThatSeeNoKeyAreKnownByTheirLse) {
  const auto row = [&](const char* name) { return whole_.tensors[name].select(2, 7); };
  EXPECT_EQ(run().code, 0);
  for (const char* name : {"q", "k", "v", "o", "dq", "dk", "dv"}) row(name).zero_();
  row("do").fill_(50);
  EXPECT_EQ(run().code, 1);
  row("lse").fill_(-std::numeric_limits<double>::infinity());
  EXPECT_THAT(run().out, ::testing::Not(HasSubstr("lse is -inf")));
  row("o").fill_(1);
  EXPECT_THAT(run().out, HasSubstr("o is not zero in a row whose lse is -inf"));
}

TEST_F(Guard, UnrotatedTensorsSkipC2) {
  whole_.tensors["dk"].add_(1);
  EXPECT_EQ(run().code, 1);
  const auto c2 = [&](const Words& words) {
    Words all = words;
    all.insert(all.end(), {"--json", folder_.file("json")});
    const Ran ran = run(all);
    EXPECT_THAT(ran.out, HasSubstr("skipped: q and k are not rotated"));
    return result()["laws"][1]["verdict"].get<std::string>();
  };
  EXPECT_EQ(c2({"--unrotated"}), "not_applicable");
  whole_.metadata["rope"] = "half[10000]";
  EXPECT_EQ(c2({}), "not_applicable");
}

TEST_F(Guard, WhatShowsNothingIsNotGreen) {
  for (const char* name : {"do", "o", "dq", "dk", "dv"})
    whole_.tensors[name] = at::zeros_like(whole_.tensors[name]);
  const Ran ran = run();
  EXPECT_EQ(ran.code, 6) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("shows nothing"));
  for (auto& [name, tensor] : whole_.tensors) tensor = tensor.narrow(2, 0, 0);
  const Ran none = run();
  EXPECT_EQ(none.code, 77) << none.err;
}

TEST_F(Guard, WhatIsNoDumpIsRefused) {
  const parity::Safetensors clean = whole_;
  const auto refused = [&](const char* says) {
    const Ran ran = run();
    EXPECT_EQ(ran.code, 2) << says;
    EXPECT_THAT(ran.err, HasSubstr(says));
    EXPECT_THAT(ran.out, IsEmpty());
    whole_ = clean;
  };
  whole_.tensors.erase("dq");
  refused("has no tensor 'dq'; want q, k, v");
  whole_.tensors["k"] = at::zeros({1, 3, 256, 32});
  refused("k and dk have shapes");
  whole_.tensors["k"] = at::zeros({2, 256, 32});
  refused("want [batch, heads, seq, dim]");
  whole_.tensors["k"] = at::zeros({1, 2, 256, 32}, at::kLong);
  refused("want float64");
  whole_.tensors["lse"] = at::zeros({1, 2, 256});
  refused("want [batch, q_heads, seq]");
  whole_.metadata["scale"] = "big";
  refused("not a number");
  whole_.metadata["rank"] = "-1";
  refused("whole number");
  EXPECT_EQ(ringcheck({"guard"}).code, 2);
  EXPECT_THAT(ringcheck({"guard", "/nonexistent"}).err, HasSubstr("cannot be read"));
  EXPECT_EQ(run({"--json", "/nonexistent/file"}).code, 2);
}

}  // namespace
}  // namespace ringcheck::testing
