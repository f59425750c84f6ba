// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The real command on the user's own tensors.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "parity/case/safetensors.h"
#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

using nlohmann::json;

Ran verify(Words words) {
  words.insert(words.begin(), "verify");
  return ringcheck(words);
}

class Tensors : public ::testing::Test {
 protected:
  Tensors() {
    for (const char* name : {"q", "k", "v"})
      file_.tensors[name] =
          at::sin(at::arange(2 * 24 * 8, at::kFloat) * (name[0] - 'a' + 1.37)).view({1, 2, 24, 8});
  }
  Ran run(Words more = {}) {
    parity::write_safetensors(path(), file_);
    more.insert(more.begin(), {"--tensors", path(), "--world", "3", "--mask", "causal"});
    return verify(more);
  }
  std::string path() const { return folder_.file("qkv.safetensors"); }

  Folder folder_;
  parity::Safetensors file_;
};

TEST_F(Tensors, AreVerified) {
  const Ran ran = run({"--json", folder_.file("json")});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const json test = json::parse(read_text(folder_.file("json")))["cases"][0];
  EXPECT_THAT(test["name"].get<std::string>(), HasSubstr("tensors[" + path() + "]"));
  const Ran again = verify({"--case", test["name"].get<std::string>()});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
}

TEST_F(Tensors, WithTheirOwnGradientAndAnotherDtype) {
  for (auto& [name, tensor] : file_.tensors)
    tensor = tensor.to(at::kBFloat16);
  file_.tensors["do"] =
      at::cos(at::arange(2 * 24 * 8, at::kFloat)).view({1, 2, 24, 8}).to(at::kBFloat16);
  const Ran ran = run({"--rotation", "p2p,allgather"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("2 passed"));
}

TEST_F(Tensors, ThatCannotBeUsedAreRefused) {
  const auto refused = [&](const char* says) {
    const Ran ran = run();
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr(says));
  };
  const at::Tensor q = file_.tensors["q"], k = file_.tensors["k"];
  file_.tensors["q"][0][1][5][3] = std::numeric_limits<double>::quiet_NaN();
  refused("[0, 1, 5, 3]");
  file_.tensors["q"] = at::zeros({1, 2, 24, 8}, at::kHalf);
  refused("the same one");
  file_.tensors["q"] = at::zeros({1, 2, 24, 8}, at::kLong);
  refused("dtype");
  file_.tensors["q"] = at::zeros({2, 24, 8});
  refused("four sizes");
  file_.tensors["q"] = at::zeros({1, 3, 24, 8});
  refused("not a multiple");
  file_.tensors["q"] = at::zeros({1, 2, 23, 8});
  refused("has shape");
  file_.tensors.erase("q");
  refused("no tensor 'q'");
  const std::string text = read_text(path());
  write_text(path(), text.substr(0, text.size() - 7));
  EXPECT_EQ(verify({"--tensors", path()}).code, 2);
}

// Gradients that fp16 cannot hold, in four cases.
TEST_F(Tensors, TheFirstFailuresAreRunAgain) {
  for (auto& [name, tensor] : file_.tensors)
    tensor = (tensor * (name == "v" ? 2e4 : 1)).to(at::kHalf);
  file_.tensors["do"] = file_.tensors["v"];
  const Ran ran = run({"--rotation", "p2p,allgather", "--balance", "headtail,contiguous", "--json",
                       folder_.file("json")});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\n  fails in 5 of 5 further runs\n"));
  const json cases = json::parse(read_text(folder_.file("json")))["cases"];
  ASSERT_EQ(cases.size(), 4U);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(cases[i]["verdict"], "fail");
    EXPECT_EQ(cases[i]["findings"],
              i < 3 ? json({"fails in 5 of 5 further runs"}) : json::array());
  }
}

}  // namespace
}  // namespace ringcheck::testing
