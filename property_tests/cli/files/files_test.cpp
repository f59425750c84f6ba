// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// A program in another language answers to exported cases, as docs/files.md shows it, and is judged.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "parity/case/safetensors.h"
#include "parity/subject/contract.h"
#include "parity/subject/files/cases_folder.h"
#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Words = std::vector<std::string>;

const std::string kHere = RINGCHECK_SOURCE_DIR "/property_tests/cli/files";
const Words kCases{"--case", "headtail/causal/P2/hq2/hkv1/s22/d4/dv6/float32",
                   "--case", "contiguous/causal/P3/b2/hq2/hkv2/s15/d4/float64"};

// The block of the page that answers.
std::string block_of_the_page() {
  const std::string page = read_text(RINGCHECK_SOURCE_DIR "/docs/files.md");
  const std::string fence = "```python\n";
  const size_t begin = page.find(fence) + fence.size();
  return page.substr(begin, page.find("```\n", begin) - begin);
}

class Files : public ::testing::Test {
 protected:
  Files() { write_text(folder_.file("fill.py"), block_of_the_page()); }

  std::string answers() const { return folder_.file("answers"); }
  void export_cases(const Words& cases = kCases) const {
    Words words{"export", answers()};
    words.insert(words.end(), cases.begin(), cases.end());
    const Ran ran = ringcheck(words);
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("then: ringcheck judge '" + answers() + "'"));
  }
  void fill(const std::string& bug = "") const {
    const Ran ran = Running({"/bin/sh", "-c", "cd '" + folder_.path() + "' && exec /usr/bin/python3 -B fill.py"},
                            {{"PYTHONPATH", kHere}, {"BUG", bug}})
                        .wait();
    ASSERT_EQ(ran.code, 0) << ran.err;
  }
  Ran judge(const Words& more = {}) const {
    Words words{"judge", answers()};
    words.insert(words.end(), more.begin(), more.end());
    return ringcheck(words);
  }
  json judged(int code, const Words& more = {}) const {
    Words words = more;
    words.insert(words.end(), {"--json", folder_.file("json"), "--junit", folder_.file("junit")});
    const Ran ran = judge(words);
    EXPECT_EQ(ran.code, code) << ran.out << ran.err;
    EXPECT_TRUE(is_xml(folder_.file("junit")));
    return json::parse(read_text(folder_.file("json")))["cases"];
  }
  // Nothing is judged, and this is said.
  void refused(const std::string& says) const {
    const Ran ran = judge();
    EXPECT_EQ(ran.code, 2) << says << "\n" << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(says));
    EXPECT_THAT(ran.out, IsEmpty());
  }
  std::string answer(int number, int rank) const {
    return answers() + "/case-" + std::to_string(number) + "/rank-" + std::to_string(rank) +
           ".out.safetensors";
  }
  // An answer with another content.
  void change(int number, int rank, const std::function<void(parity::Safetensors&)>& with) const {
    parity::Safetensors file = parity::read_safetensors(answer(number, rank));
    with(file);
    parity::write_safetensors(answer(number, rank), file);
  }

  Folder folder_;
};

std::string findings(const json& test) {
  std::string text;
  for (const json& oracle : test["oracles"])
    for (const json& finding : oracle["findings"])
      text += oracle["name"].get<std::string>() + ": " + finding.get<std::string>() + "\n";
  return text;
}

TEST_F(Files, RightAnswersPass) {
  export_cases();
  fill();
  const json cases = judged(0);
  ASSERT_EQ(cases.size(), 2U);
  for (const json& test : cases) {
    EXPECT_EQ(test["verdict"], "pass") << test["name"];
    for (const auto& [tensor, ranks] : test["judged"].items())
      for (const json& by : ranks) EXPECT_EQ(by, "bounded") << tensor;
  }
}

TEST_F(Files, EachMistakeFailsWithTensorAndRank) {
  const struct {
    const char* bug;
    std::vector<std::string> says;
  } table[] = {{"dk_of_rank_1", {"parity: dk: rank 1 "}},
               {"dropped_hop", {"parity: o: rank ", "parity: dq: rank ", "parity: dv: rank "}},
               {"cp_off", {"parity: o: rank ", "parity: lse: rank ", "parity: dk: rank "}},
               {"mask_off_by_one", {"parity: o: rank ", "parity: lse: rank "}},
               {"threefold", {"parity: dq: rank ", "parity: dk: rank "}},
               {"constant_lse", {"parity: lse: rank "}}};
  export_cases();
  for (const auto& wrong : table) {
    fill(wrong.bug);
    for (const json& test : judged(1)) {
      EXPECT_EQ(test["verdict"], "fail") << wrong.bug;
      for (const std::string& what : wrong.says)
        EXPECT_THAT(findings(test), HasSubstr(what)) << wrong.bug;
    }
  }
  // A gradient that is wrong leaves the other tensors alone.
  fill("dk_of_rank_1");
  for (const json& test : judged(1)) EXPECT_THAT(findings(test), Not(HasSubstr("parity: dq")));
}

TEST_F(Files, WhatIsNotShownIsNotApplicableAndNeverAPass) {
  export_cases();
  fill();
  const auto without = [](const char* name) {
    return [name](parity::Safetensors& file) { file.tensors.erase(name); };
  };
  for (const int rank : {0, 1}) change(0, rank, without("lse"));
  for (const int rank : {0, 1, 2}) change(1, rank, without("lse"));
  EXPECT_THAT(findings(judged(1)[0]), HasSubstr("returned: lse: not returned"));
  const json cases = judged(0, {"--shows", "o,dq,dk,dv"});
  EXPECT_EQ(cases[0]["judged"]["lse"][0], "nobody");
  EXPECT_THAT(findings(cases[0]), HasSubstr("lse: the subject says that it has none"));
  change(0, 1, without("dq"));
  EXPECT_THAT(findings(judged(1, {"--shows", "o,dq,dk,dv"})[0]),
              HasSubstr("returned: dq: not returned by rank 1"));
  fill("constant_lse");  // it is there, and not to be judged
  judged(1);
  EXPECT_EQ(judged(0, {"--shows", "o,dq,dk,dv"})[0]["judged"]["lse"][0], "nobody");
}

parity::Promise promised(const std::string& folder, const parity::Answering& answering, int number) {
  const parity::Case test = parity::read_cases(folder, answering).at(number).test;
  return parity::subject_of(test)->promise(test);
}

// By which rounding errors it may have.
TEST_F(Files, AreJudgedByTheContractThatTheyAreSaidToKeep) {
  export_cases();
  fill();
  for (const int number : {0, 1}) {
    parity::Case plain = parity::read_cases(answers(), {}).at(number).test;
    plain.kernel = "plain";
    const parity::Promise by_plain = promised(answers(), {{"o"}, "plain"}, number);
    EXPECT_EQ(by_plain.partials, 2 * plain.world);
    EXPECT_THAT(by_plain.shows, ::testing::ElementsAre("o"));
    EXPECT_TRUE(by_plain.contract == parity::merging_anyhow(parity::contract_of(plain)));
    EXPECT_TRUE(promised(answers(), {}, number).contract == parity::merging_anyhow(parity::loosest_contract({plain.dtype})));
  }
  for (const Words& contract : {Words{"--contract", "nosuch"}, Words{"--contract", "plain,o"}, Words{"--contract", "fa2", "--shows", "o,lse"}}) {
    const Ran ran = judge(contract);
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(contract[1]));
    EXPECT_THAT(ran.out, IsEmpty());
  }
  const json cases = judged(0, {"--contract", "plain"});
  EXPECT_THAT(cases[0]["reproduce"].get<std::string>(), HasSubstr(" --contract plain"));
  EXPECT_THAT(cases[0]["parts"]["subject"].get<std::string>(), HasSubstr("contract=plain"));
}

TEST_F(Files, OfRotatedCasesShowQAndK) {
  export_cases({"--case", "headtail/causal/P2/hq2/hkv1/s22/d4/rope:half[10000]"});
  EXPECT_THAT(promised(answers(), {{"o"}, {}}, 0).shows, ::testing::ElementsAre("k", "o", "q"));
}

TEST_F(Files, OneCaseCanBeJudgedAlone) {
  export_cases();
  fill("constant_lse");
  const json all = judged(1);
  const std::string command = all[1]["reproduce"];
  EXPECT_THAT(command, HasSubstr("ringcheck judge '" + answers() + "' --case 'contiguous/"));
  const Ran again = Running({"/bin/sh", "-c", ringcheck_program() + command.substr(9)}).wait();
  EXPECT_EQ(again.code, 1) << again.err;
  EXPECT_THAT(again.out, HasSubstr("FAIL  1 case"));
  EXPECT_EQ(judged(1, {"--case", "P3/float64/causal/contiguous/s15/b2/hq2/hkv2/d4"}).size(), 1U) << "in another order";
  const Ran none = judge({"--case", "contiguous/causal/P9"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("is none of '" + answers() + "'"));
}

TEST_F(Files, HoldTheUsersOwnTensors) {
  parity::Safetensors file;
  for (const char* name : {"q", "k", "v"})
    file.tensors[name] =
        at::sin(at::arange(2 * 24 * 4, at::kFloat) * (name[0] - 'a' + 1.37)).view({1, 2, 24, 4});
  parity::write_safetensors(folder_.file("qkv"), file);
  export_cases({"--tensors", folder_.file("qkv"), "--world", "2", "--mask", "causal"});
  fs::remove(folder_.file("qkv"));
  fs::rename(answers(), folder_.file("moved"));
  fs::rename(folder_.file("moved"), answers());
  fill();
  EXPECT_EQ(judged(0).size(), 1U);
  fill("dk_of_rank_1");
  EXPECT_EQ(judged(1).size(), 1U);
}

TEST_F(Files, HoldEachQuestionOnce) {
  const auto questions = [this](const Words& cases) {
    fs::remove_all(answers());
    export_cases(cases);
    const json manifest = json::parse(read_text(answers() + "/manifest.json"));
    std::set<std::string> seen;
    for (const json& test : manifest["cases"]) {
      EXPECT_TRUE(seen.insert(test["case"]).second) << test["case"];
      EXPECT_FALSE(test["parts"].contains("strategy"));
      EXPECT_EQ(test["ranks"].size(), test["parts"]["world"]);
    }
    return seen.size();
  };
  EXPECT_GT(questions({"--profile", "smoke", "--seq", "16,17,18,19,20", "--dtype", "float32"}), 1U);
  EXPECT_EQ(questions({"--case", "ring:p2p/P2/s64", "--case", "ulysses/P2/s64"}), 1U);
  EXPECT_EQ(questions({"--case", "ring:p2p/P2/s64", "--case", "ulysses/P4/s64"}), 2U);
}

TEST_F(Files, ThatAreNotWholeAreRefused) {
  export_cases();
  refused("case-0/rank-0.out.safetensors' is not there: rank 0 of case 0 has given nothing back");
  fill();
  const fs::path good = folder_.file("good");
  fs::copy(answers(), good, fs::copy_options::recursive);
  const auto spoilt = [&](const std::function<void()>& spoil, const std::string& says) {
    spoil();
    refused(says);
    fs::remove_all(answers());
    fs::copy(good, answers(), fs::copy_options::recursive);
  };
  spoilt([&] { fs::remove(answer(1, 2)); }, "rank 2 of case 1 has given nothing back");
  spoilt([&] { fs::resize_file(answer(1, 2), 300); }, "case-1/rank-2.out.safetensors' is truncated");
  spoilt([&] { fs::resize_file(answer(0, 1), 0); }, "is truncated: it has 0 bytes");
  spoilt([&] { change(0, 1, [](auto& f) { f.tensors["dK"] = f.tensors["dk"]; }); },
         "has a tensor 'dK'; want o, lse, dq, dk and dv");
  spoilt([&] { change(0, 1, [](auto& f) { f.tensors["dq"] = f.tensors["dq"].transpose(1, 2); }); },
         "has dq of shape");
  spoilt([&] { change(0, 1, [](auto& f) { f.tensors["o"] = f.tensors["o"].to(at::kLong); }); },
         "of a floating dtype");
  const std::string input = answers() + "/case-0/rank-1.in.safetensors";
  spoilt(
      [&] {
        std::string bytes = read_text(input);
        bytes[bytes.size() - 40] ^= 1;
        write_text(input, bytes);
      },
      "has case-0/rank-1.in.safetensors with another checksum");
  spoilt([&] { fs::remove(input); }, "has no file case-0/rank-1.in.safetensors");
  spoilt(
      [&] {
        std::string text = read_text(answers() + "/manifest.json");
        text.replace(text.find("headtail"), 8, "striped");
        write_text(answers() + "/manifest.json", text);
      },
      "it was changed");
  EXPECT_EQ(judge().code, 0);
}

TEST_F(Files, AreWrittenToANewFolderOnly) {
  export_cases();
  Ran ran = ringcheck({"export", answers(), "--case", kCases[1]});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("cannot make the folder '" + answers() + "': it exists; name a new one"));
  ran = ringcheck({"export", folder_.file("new"), "--mask", "triangle"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_FALSE(fs::exists(folder_.file("new")));
  ran = ringcheck({"export", folder_.file("new"), "--seq", "1M", "--heads", "4096"});
  EXPECT_EQ(ran.code, 2) << ran.out;
  EXPECT_FALSE(fs::exists(folder_.file("new")));
}

}  // namespace
}  // namespace ringcheck::testing
