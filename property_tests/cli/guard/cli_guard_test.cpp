// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The real command on dumps of a correct run, and on dumps that are spoilt.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "property_tests/cli/guard/guard_dump.h"
#include "property_tests/parity/case/generators.h"

namespace ringcheck::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using nlohmann::json;
using Words = std::vector<std::string>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

class Guard : public GuardTest {};

TEST_F(Guard, ACorrectRunPasses) {
  const Ran ran = run({"--json", folder_.file("json")});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(words_of(ran.out), HasSubstr("C1 sum dV = sum dO"));
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
    EXPECT_THAT(words_of(ran.out), HasSubstr(std::string("FAIL ") + wrong.law)) << wrong.tensor;
  }
}

// What underflows is off by a step of the dtype, in each of the terms of which a gradient may be the sum: 64 partial results of
// two query heads, where nothing is known of the implementation.
TEST_F(Guard, ExpectsAStepOfTheDtypeInEachTermOfAGradient) {
  constexpr double kSmall = 0x1p-13, kStep = 0x1p-24;  // of dO; of fp16 where it is subnormal
  const auto with_errors_of = [this](int64_t terms) {
    step({Causal{}, 256}, at::kHalf);
    for (const char* name : {"do", "dq", "dk", "dv"})
      whole_.tensors[name] = (whole_.tensors[name].to(at::kDouble) * kSmall).to(at::kHalf);
    for (const char* name : {"dk", "dv"}) {
      at::Tensor& x = whole_.tensors[name];
      const double error = kStep * std::sqrt(static_cast<double>(terms) / 12);
      x = (x.to(at::kDouble) + error * normal(x.sizes(), 9, at::kDouble)).to(at::kHalf);
    }
    return run().code;
  };
  EXPECT_EQ(with_errors_of(2 * 64), 0);
  EXPECT_EQ(with_errors_of(2 * 64 * 100), 1);
}

TEST_F(Guard, ANanFailsWhereverItIs) {
  for (const char* name : {"q", "k", "v", "o", "do", "dq", "dk", "dv"}) {
    const parity::Safetensors clean = whole_;
    whole_.tensors[name] = whole_.tensors[name].clone();
    whole_.tensors[name][0][1][5][3] = kNan;
    const Ran ran = run({"--json", folder_.file("json")});
    EXPECT_EQ(ran.code, 1) << name;
    EXPECT_THAT(words_of(ran.out), HasSubstr(std::string(name) + " has 1 values that are not finite, the first at [0, 1, 5, 3]"));
    EXPECT_EQ(result()["verdict"], "fail");
    whole_ = clean;
  }
}

// An LSE that is -inf says that a row sees no key; no other that is not finite says anything.
TEST_F(Guard, AnLseThatIsNoNumberOrLargerThanAllFails) {
  for (const double value : {kNan, kInfinity, -kInfinity}) {
    (*this)["lse"][0][1][5] = value;
    const Ran ran = run();
    EXPECT_EQ(ran.code, 1) << value;
    const std::string says = "lse has 1 values that are not finite, the first at [0, 1, 5]";
    EXPECT_EQ(words_of(ran.out).find(says) != std::string::npos, value != -kInfinity) << value << ran.out;
  }
}

// A row whose LSE is -inf sees no key: its dO stands outside C1, and it must be empty.
TEST_F(Guard, RowsThatSeeNoKeyAreKnownByTheirLse) {
  const auto row = [&](const char* name) { return whole_.tensors[name].select(2, 7); };
  EXPECT_EQ(run().code, 0);
  for (const char* name : {"q", "k", "v", "o", "dq", "dk", "dv"}) row(name).zero_();
  row("do").fill_(50);
  EXPECT_EQ(run().code, 1);
  row("lse").fill_(-std::numeric_limits<double>::infinity());
  EXPECT_THAT(words_of(run().out), ::testing::Not(HasSubstr("lse is -inf")));
  row("o").fill_(1);
  EXPECT_THAT(words_of(run().out), HasSubstr("o is not zero in a row whose lse is -inf"));
}

TEST_F(Guard, UnrotatedTensorsSkipC2) {
  whole_.tensors["dk"].add_(1);
  EXPECT_EQ(run().code, 1);
  const auto c2 = [&](const Words& words) {
    Words all = words;
    all.insert(all.end(), {"--json", folder_.file("json")});
    const Ran ran = run(all);
    EXPECT_THAT(words_of(ran.out), HasSubstr("skipped: q and k are not rotated"));
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
  EXPECT_THAT(words_of(ran.out), HasSubstr("shows nothing"));
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
  EXPECT_EQ(run({"--json", "/nonexistent/file"}).code, 2);
  EXPECT_EQ(ringcheck({"guard"}).code, 2);
  EXPECT_THAT(ringcheck({"guard", "/nonexistent"}).err, HasSubstr("cannot be read"));
}

// A value of the metadata that makes no sense is named with its file and its key.
TEST_F(Guard, MetadataIsStrict) {
  using Metadata = std::map<std::string, std::string>;
  const struct {
    Metadata says;
    Words named;
  } table[] = {{{{"scale", "big"}}, {"scale = 'big'", "0.25"}},
               {{{"scale", "nan"}}, {"scale = 'nan'", "1e-30", "10000"}},
               {{{"scale", "1e300"}}, {"scale = '1e300'", "1e-30", "10000"}},
               {{{"scale", "-1e-31"}}, {"scale = '-1e-31'", "1e-30", "10000"}},
               {{{"rank", "0"}}, {"rank without world", "both"}},
               {{{"world", "1"}}, {"world without rank", "both"}},
               {{{"rank", "x"}, {"world", "2"}}, {"rank = 'x'", "0 to 1048576"}},
               {{{"rank", "-1"}, {"world", "2"}}, {"rank = '-1'", "0 to 1048576"}},
               {{{"rank", "0.5"}, {"world", "2"}}, {"rank = '0.5'", "whole number"}},
               {{{"rank", "0"}, {"world", "0"}}, {"world = '0'", "1 to 1048576"}},
               {{{"rank", "0"}, {"world", "1e9"}}, {"world = '1e9'", "1 to 1048576"}},
               {{{"rank", "2"}, {"world", "2"}}, {"rank = '2'", "world = '2'", "0 to 1"}}};
  for (const auto& [says, named] : table) {
    const std::string file = write_shard(0, says);
    const Ran ran = ringcheck({"guard", file});
    EXPECT_EQ(ran.code, 2) << named.front();
    EXPECT_THAT(ran.err, HasSubstr("'" + file + "'"));
    for (const std::string& word : named) EXPECT_THAT(ran.err, HasSubstr(word));
    EXPECT_THAT(ran.out, IsEmpty());
  }
}

// All ranks of one world, each once, whatever order; or no file says a rank.
TEST_F(Guard, TheFilesOfAllRanksOnce) {
  using Said = std::vector<std::pair<std::string, std::string>>;  // rank and world of each file
  const auto code = [&](const Said& said) {
    Words words{"guard"};
    for (size_t file = 0; file < said.size(); ++file) {
      const auto& [rank, world] = said[file];
      words.push_back(write_shard(static_cast<int>(file), rank.empty() ? std::map<std::string, std::string>{}
                                  : std::map<std::string, std::string>{{"rank", rank}, {"world", world}}));
    }
    return ringcheck(words).code;
  };
  const std::pair<std::string, std::string> none;
  EXPECT_EQ(code({{"0", "4"}, {"1", "4"}, {"2", "4"}, {"3", "4"}}), 0);
  EXPECT_EQ(code({{"2", "4"}, {"0", "4"}, {"3", "4"}, {"1", "4"}}), 0);
  EXPECT_EQ(code({none, none, none, none}), 0);
  EXPECT_EQ(code({{"0", "4"}, {"1", "4"}, {"2", "4"}}), 2);
  EXPECT_EQ(code({{"0", "5"}, {"1", "5"}, {"2", "5"}, {"3", "5"}}), 2);
  EXPECT_EQ(code({{"0", "3"}, {"1", "3"}, {"2", "3"}, {"2", "3"}}), 2);
  EXPECT_EQ(code({{"0", "3"}, {"1", "3"}, {"2", "3"}, {"7", "3"}}), 2);
  EXPECT_EQ(code({{"0", "3"}, {"1", "3"}, {"2", "3"}, none}), 2);
  EXPECT_EQ(code({none, {"0", "3"}, {"1", "3"}, {"2", "3"}}), 2);
  EXPECT_EQ(code({{"0", "4"}, {"1", "4"}, {"2", "4"}, {"3", "5"}}), 2);
}

// The largest resident memory of a child so far.
double most_kilobytes() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  return static_cast<double>(used.ru_maxrss);
}

// Memory is that of a file, also where nothing in it is finite.
TEST_F(Guard, WhereNothingIsFiniteMemoryIsThatOfAFile) {
  for (auto& [name, x] : whole_.tensors)
    x = x.repeat(x.dim() == 4 ? std::vector<int64_t>{1, 1, 256, 1} : std::vector<int64_t>{1, 1, 256});
  (*this)["dq"][0][0][0][0] = kNan;
  EXPECT_EQ(run().code, 1);
  const double one = most_kilobytes();
  for (auto& [name, x] : whole_.tensors) x.fill_(kNan);
  const Ran ran = run();
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(words_of(ran.out), HasSubstr("q has 8388608 values that are not finite, the first at [0, 0, 0, 0]"));
  const double file = static_cast<double>(std::filesystem::file_size(path("whole"))) / 1024;
  EXPECT_LT(most_kilobytes() - one, 0.5 * file);
}

}  // namespace
}  // namespace ringcheck::testing
