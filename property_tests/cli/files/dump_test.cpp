// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The dump of a training step, judged against float64: also what four conservation sums cannot see.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cp/layout/balancer.h"
#include "property_tests/cli/guard/guard_dump.h"

namespace ringcheck::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using nlohmann::json;
using Words = std::vector<std::string>;

constexpr int64_t kLength = 256;
constexpr double kScale = 0.25;

class Dumps : public GuardTest {
 protected:
  // A file a rank, cut by a balancer; perhaps with the positions of its slots.
  void write(const std::string& balance, bool positions, int64_t block = 1) {
    const Layout layout = layout_of(Balancers::at(balance), {{Causal{}, kLength}, block}, kShards);
    for (int rank = 0; rank < kShards; ++rank) {
      const at::Tensor slots = at::tensor(flatten(layout.queries[rank]), at::kLong);
      parity::Safetensors file{
          {}, {{"scale", "0.25"}, {"rank", std::to_string(rank)}, {"world", "4"}}};
      for (const auto& [name, x] : whole_.tensors) file.tensors[name] = x.index_select(2, slots);
      if (positions) file.tensors["positions"] = slots;
      parity::write_safetensors(path(std::to_string(rank)), file);
    }
  }
  void change(int rank, const std::function<void(parity::Safetensors&)>& with) {
    parity::Safetensors file = parity::read_safetensors(path(std::to_string(rank)));
    with(file);
    parity::write_safetensors(path(std::to_string(rank)), file);
  }
  Ran judge(Words words = {"--mask", "causal", "--balance", "headtail"}) {
    words.insert(words.begin(), "judge");
    for (const int rank : {2, 0, 3, 1}) words.push_back(path(std::to_string(rank)));
    return ringcheck(words);
  }
  json judged(int code, Words words = {"--mask", "causal", "--balance", "headtail"}) {
    words.insert(words.end(), {"--json", folder_.file("json")});
    const Ran ran = judge(words);
    EXPECT_EQ(ran.code, code) << ran.out << ran.err;
    return json::parse(read_text(folder_.file("json")))["cases"][0];
  }
  void refused(const Words& words, const std::string& says) {
    const Ran ran = judge(words);
    EXPECT_EQ(ran.code, 2) << says;
    EXPECT_THAT(ran.err, HasSubstr(says));
    EXPECT_THAT(ran.out, IsEmpty());
  }

  // Attention in which a query sees these keys, [queries, keys], in place of the right one.
  void attend(const at::Tensor& visible) {
    const auto wide = [&](const char* name) { return whole_.tensors.at(name).to(at::kDouble); };
    const at::Tensor q = wide("q"), d_o = wide("do");
    const at::Tensor k = wide("k").repeat_interleave(2, 1), v = wide("v").repeat_interleave(2, 1);
    const at::Tensor scores =
        (q.matmul(k.transpose(2, 3)) * kScale).masked_fill(visible.logical_not(), -INFINITY);
    const at::Tensor p = scores.softmax(-1).nan_to_num(0), o = p.matmul(v);
    const at::Tensor ds = p * (d_o.matmul(v.transpose(2, 3)) - (d_o * o).sum(-1, true));
    const auto grouped = [](const at::Tensor& x) { return x.view({1, 2, 2, kLength, 32}).sum(2); };
    set("o", o);
    whole_.tensors["lse"] = scores.logsumexp(-1).to(at::kFloat);
    set("dq", ds.matmul(k) * kScale);
    set("dk", grouped(ds.transpose(2, 3).matmul(q)) * kScale);
    set("dv", grouped(p.transpose(2, 3).matmul(d_o)));
  }
  void set(const char* name, const at::Tensor& x) {
    whole_.tensors[name] = x.to(whole_.tensors.at("q").scalar_type());
  }

  static at::Tensor causal(int64_t offset = 0) {
    const at::Tensor at = at::arange(kLength);
    return at.unsqueeze(0) + offset <= at.unsqueeze(1);
  }
  // By position, which rank head-tail balancing gives it to.
  static at::Tensor owners() {
    const at::Tensor chunk = at::arange(kLength).floor_divide(kLength / (2 * kShards));
    return at::minimum(chunk, 2 * kShards - 1 - chunk);
  }
};

std::string findings(const json& test) {
  std::string text;
  for (const json& oracle : test["oracles"])
    for (const json& finding : oracle["findings"])
      text += oracle["name"].get<std::string>() + ": " + finding.get<std::string>() + "\n";
  return text;
}

TEST_F(Dumps, OfARightStepPassHoweverItIsCut) {
  for (const char* balance : {"headtail", "contiguous"}) {
    write(balance, false);
    const json test = judged(0, {"--mask", "causal", "--balance", balance});
    EXPECT_EQ(test["parts"]["balance"], balance);
    for (const auto& [tensor, ranks] : test["judged"].items())
      for (const json& by : ranks) EXPECT_EQ(by, "bounded") << tensor;
  }
  write("striped", true, 16);
  EXPECT_EQ(judged(0, {"--mask", "causal"})["parts"]["balance"], "striped[16]");
  write("headtail", true);
  EXPECT_EQ(judged(0, {"--mask", "causal"})["parts"]["balance"], "headtail");
  judged(1, {"--mask", "full"});
  write("headtail", false);
  judged(1, {"--mask", "causal", "--balance", "contiguous"});
}

// Else a right step would fail, cut as nobody had cut it. What is not judged is said.
TEST_F(Dumps, ThatSayTheirPositionsAreNotCutOtherwise) {
  write("headtail", true);
  const Ran right = judge({"--mask", "causal", "--balance", "headtail"});
  EXPECT_EQ(right.code, 0) << right.err;
  EXPECT_NE(right.out.find("Taken as given: q, k, v and do"), std::string::npos) << right.out;
  const Ran other = judge({"--mask", "causal", "--balance", "contiguous"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("not what --balance contiguous gives this rank; leave --balance out"), std::string::npos) << other.err;
}

TEST_F(Dumps, ThatAttendAsTheyShouldInTheTestPass) {
  attend(causal());
  write("headtail", false);
  judged(0);
}

TEST_F(Dumps, OfWrongStepsFailWithTensorAndRank) {
  const parity::Safetensors right = whole_;
  const at::Tensor rows = owners().unsqueeze(1), columns = owners().unsqueeze(0);
  const struct {
    const char* what;
    std::function<void()> wrong;
    Words says;
  } table[] = {
      {"dK of one rank times 0.97",
       [&] {
         const at::Tensor own = owners().eq(1).view({1, 1, -1, 1});
         set("dk", at::where(own, right.tensors.at("dk") * 0.97, right.tensors.at("dk")));
       },
       {"parity: dk: rank 1 "}},
      {"a dropped hop in both passes",
       [&] { attend(causal() & columns.ne((rows + 1).remainder(kShards))); },
       {"parity: o: rank ", "parity: lse: rank ", "parity: dq: rank ", "parity: dk: rank ", "parity: dv: rank "}},
      {"CP off", [&] { attend(causal() & rows.eq(columns)); },
       {"parity: o: rank ", "parity: lse: rank ", "parity: dk: rank "}},
      {"a mask off by one", [&] { attend(causal(-1)); }, {"parity: o: rank ", "parity: lse: rank "}},
      {"dQ and dK times 3", [&] { (*this)["dq"].mul_(3); (*this)["dk"].mul_(3); },
       {"parity: dq: rank ", "parity: dk: rank "}},
      {"LSE constant", [&] { (*this)["lse"].fill_(1.5); }, {"parity: lse: rank "}}};
  for (const auto& [what, wrong, says] : table) {
    whole_ = right;
    wrong();
    write("headtail", false);
    const std::string found = findings(judged(1));
    for (const std::string& words : says) EXPECT_THAT(found, HasSubstr(words)) << what;
  }
}

TEST_F(Dumps, WithoutLseAreJudgedWithoutIt) {
  whole_.tensors.erase("lse");
  write("headtail", false);
  const json test = judged(0);
  EXPECT_EQ(test["judged"]["lse"][0], "nobody");
  EXPECT_EQ(test["judged"]["dk"][0], "bounded");
  const Ran sampled = judge({"--mask", "causal", "--balance", "headtail", "--sample", "32"});
  EXPECT_EQ(sampled.code, 6) << sampled.out;
  EXPECT_THAT(sampled.err, HasSubstr("without lse it says nothing of dk and dv"));
}

TEST_F(Dumps, AreSampledWhereAsked) {
  write("headtail", false);
  const Ran ran = judge({"--mask", "causal", "--balance", "headtail", "--sample", "32"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("a sample of 32 queries and keys of each head is judged; --sample 256"));
  (*this)["o"].mul_(1.5);
  write("headtail", false);
  EXPECT_EQ(judge({"--mask", "causal", "--balance", "headtail", "--sample", "32"}).code, 1);
}

TEST_F(Dumps, TellWhatWouldReproduce) {
  (*this)["dv"].mul_(2);
  write("headtail", true);
  const json test = judged(1, {"--mask", "causal"});
  const std::string command = test["reproduce"];
  EXPECT_EQ(command.find("ringcheck judge --mask 'causal' '" + path("2") + "'"), 0U) << command;
  EXPECT_THAT(test["name"].get<std::string>(), Not(HasSubstr("ringcheck-run-")));
  EXPECT_EQ(Running({"/bin/sh", "-c", ringcheck_program() + command.substr(9)}).wait().code, 1);
}

TEST_F(Dumps, ThatCannotBeAreRefused) {
  const Words by_name{"--mask", "causal", "--balance", "headtail"}, by_tensor{"--mask", "causal"};
  write("headtail", false);
  refused({}, "does not say its mask; say it, for example --mask causal");
  refused(by_tensor, "has no tensor 'positions'");
  refused({"--mask", "causal", "--balance", "zigzag"}, "'zigzag'");
  refused({"--mask", "triangle", "--balance", "headtail"}, "'triangle'");
  refused({"--mask", "doc[100,100]", "--balance", "headtail"}, "take 200 slots, seq is 256");
  refused({"--mask", "causal", "--shows", "o"}, "leave them out");
  change(1, [](auto& f) { f.metadata["rank"] = "2"; });
  refused(by_name, "give the file of each rank once");
  write("headtail", true);
  change(1, [](auto& f) { f.tensors["positions"][5] = 0; });
  refused(by_tensor, "has position 0, which '" + path("0") + "' has, too");
  write("headtail", true);
  change(1, [](auto& f) { f.tensors["positions"][5] = -1; });
  refused(by_tensor, "and nobody has position 37");
  write("headtail", true);
  for (const int position : {1000, -5}) {
    change(1, [=](auto& f) { f.tensors["positions"][5] = position; });
    refused(by_tensor, "has position " + std::to_string(position) + ", and all files together have");
  }
  change(1, [](auto& f) { f.tensors["positions"] = f.tensors["positions"].narrow(0, 0, 60).clone(); });
  refused(by_tensor, "want int64 [64], a number a slot");
  write("headtail", true);
  for (const int rank : {0, 1})
    change(rank, [&](auto& f) {
      f.tensors["positions"] = f.tensors["positions"].clone();
      f.tensors["positions"][3] = rank == 0 ? 35 : 3;
    });
  refused(by_tensor, "as no balancer here gives them");
  write("headtail", false);
  change(3, [](auto& f) { f.tensors["q"][0][0][0][0] = NAN; });
  refused(by_name, "has q with values that are not finite");
  for (const char* name : {"o", "lse", "dq", "dk", "dv"}) {
    write("headtail", false);
    change(3, [&](auto& f) { f.tensors[name] = f.tensors[name].to(at::kDouble); });
    refused(by_name, "'" + path("3") + "' has " + name + " of dtype Double, where '" + path("0") + "' has it of ");
  }
  write("headtail", false);
  change(3, [](auto& f) { f.metadata["rope"] = "half[10000]"; });
  refused(by_name, "from before the rotary embedding");
  write("headtail", false);
  change(2, [](auto& f) {
    for (auto& [name, x] : f.tensors) x = x.narrow(2, 0, 60).clone();
  });
  refused(by_name, "has 60 slots, where headtail gives rank 2 ");
}

}  // namespace
}  // namespace ringcheck::testing
