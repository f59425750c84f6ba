// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// `ringcheck plan` as it is typed: what docs/plan.md says of it, its JSON, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "property_tests/cli/program.h"
#include "property_tests/reports/json_schema.h"

namespace ringcheck::testing {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

const std::string kPage = RINGCHECK_SOURCE_DIR "/docs/plan.md";
const std::string kTimes = RINGCHECK_SOURCE_DIR "/reports/results/speed/h200_gpu2_threads.json";

Ran plan(Words words) {
  words.insert(words.begin(), "plan");
  return ringcheck(words);
}

json plan_of(Words words) {
  words.insert(words.end(), {"--json", "-"});
  const Ran ran = plan(words);
  EXPECT_EQ(ran.code, 0) << ran.err;
  return json::parse(ran.out);
}

// The fastest that fits of all GPUs.
json best_of(const json& own) {
  const json& all = own["degrees"].back();
  for (const json& choice : all["strategies"])
    if (!choice.contains("refused") &&
        all["kv_bytes"].get<double>() + choice["layer_bytes"].get<double>() <= own["question"]["memory_bytes"].get<double>())
      return choice;
  return {};
}

TEST(PlanCommand, SaysOfTheTutorialsRowsWhatThePageSays) {
  const std::string page = read_text(kPage);
  const std::vector<std::pair<std::string, int>> rows{{"32K", 1}, {"128K", 4}, {"512K", 16}, {"1M", 32}};
  for (const auto& [tokens, fewest] : rows) {
    const json own = plan_of({"--model", "llama3-8b", "--seq", tokens, "--world", "64"})["plan"];
    EXPECT_EQ(own["fewest_ranks"], fewest) << tokens;
    const json at_fewest = plan_of({"--model", "llama3-8b", "--seq", tokens, "--world", std::to_string(fewest)})["plan"];
    const json both = best_of(at_fewest)["both"];
    const int waits = static_cast<int>(std::lround(100 * both["exposed"].get<double>() / both["seconds"].get<double>()));
    const double gibibytes = at_fewest["degrees"].back()["kv_bytes"].get<double>() / (1 << 30);
    const std::string row = "| " + std::to_string(fewest) + " | " + std::to_string(std::lround(gibibytes)) + " GiB | " +
                            (fewest == 1 ? "-" : std::to_string(waits) + " %") + " |";
    EXPECT_THAT(page, HasSubstr(row)) << tokens;
  }
}

using Timed = std::multiset<std::string>;  // strategy, kernel and length

// What the model of a plan was held to.
Timed timed_on_several(const json& own) {
  Timed list;
  for (const json& one : own["figures"]["checked"])
    if (one["ranks"] > 1)
      list.insert(one["strategy"].get<std::string>() + " " + one["kernel"].get<std::string>() + " " +
                  std::to_string(one["seq"].get<int64_t>()));
  return list;
}

// What the committed times have of the strategies that are planned.
Timed planned_times() {
  const std::set<std::string> planned{"gathered", "ring:allgather", "ring:p2p", "ulysses", "ulysses[2]", "ulysses[4]"};
  const json times = json::parse(read_text(kTimes));
  Timed list;
  for (const json& one : times["measurements"]) {
    const json& parts = one["parts"];
    if (one["name"] == "seconds" && parts["devices"] != "1" && planned.contains(parts["strategy"].get<std::string>()))
      list.insert(parts["strategy"].get<std::string>() + " " + parts["kernel"].get<std::string>() + " " +
                  parts["seq"].get<std::string>());
  }
  return list;
}

TEST(PlanCommand, WritesAResultThatKeepsToItsSchema) {
  const json schema = json::parse(read_text(RINGCHECK_SOURCE_DIR "/reports/result.schema.json"));
  for (const Words& words : {Words{"--model", "llama3-70b", "--seq", "1M", "--world", "64", "--memory", "16"},
                             Words{"--heads", "8", "--dim", "64", "--seq", "100M", "--world", "1024", "--network", "25"},
                             Words{"--heads", "4", "--kv-heads", "1", "--dim", "128", "--seq", "2", "--world", "1"}}) {
    const json file = plan_of(words);
    EXPECT_THAT(testing::schema_violations(schema, file), IsEmpty());
    EXPECT_EQ(file["kind"], "plan");
    EXPECT_EQ(timed_on_several(file["plan"]), planned_times());
  }
}

TEST(PlanCommand, TakesTheTimesOfAResult) {
  const Words question{"--model", "qwen3-8b", "--seq", "256K", "--world", "8", "--memory", "64"};
  Words other = question;
  other.insert(other.end(), {"--figures", kTimes});
  EXPECT_EQ(plan(question).out, plan(other).out);
  const Folder folder;
  json slower = json::parse(read_text(kTimes));
  for (json& one : slower["measurements"])
    for (json& sample : one["samples"])
      if (one["unit"] == "s") sample = 2 * sample.get<double>();
      else if (one["unit"] == "TFLOP/s") sample = sample.get<double>() / 2;
  write_text(folder.file("slower.json"), slower.dump());
  const auto seconds = [&](Words words) { return best_of(plan_of(words)["plan"])["both"]["seconds"].get<double>(); };
  other.back() = folder.file("slower.json");
  EXPECT_NEAR(seconds(other) / seconds(question), 2, 1e-6);
}

TEST(PlanCommand, ThatDoesNotFitSaysWhatWould) {
  const Ran ran = plan({"--model", "llama3-70b", "--seq", "1M", "--world", "8"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("does not fit"), HasSubstr("8.000 GiB are allowed"), HasSubstr("--world")));
}

TEST(PlanCommand, RefusesWhatCannotBe) {
  const Words model{"--model", "llama3-8b", "--seq", "1M"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), model.begin(), model.end());
    return more;
  };
  const std::vector<std::pair<Words, std::string>> wrong{
      {{"--model", "llama3-8", "--seq", "1M"}, "did you mean 'llama3-8b'?"},
      {{"--seq", "1M"}, "--heads and --dim are not both given; want them, or --model"},
      {{"--heads", "8", "--seq", "1M"}, "--heads and --dim are not both given"},
      {{"--model", "llama3-8b"}, "--seq is required"},
      {{"--model", "llama3-8b", "--seq", "0"}, "--seq 0 is out of bounds"},
      {{"--model", "llama3-8b", "--seq", "-4K"}, "out of bounds"},
      {{"--model", "llama3-8b", "--seq", "many"}, "'many' is not a size"},
      {{"--model", "llama3-8b", "--seq", "15", "--world", "8"}, "fewer than two tokens for each of 8 GPUs; want --world 7"},
      {{"--heads", "1", "--dim", "1", "--seq", "1", "--world", "1"}, "for each of 1 GPUs; want --seq 2 or more"},
      {with({"--heads", "12", "--kv-heads", "5"}), "12 query heads do not divide by 5 key-value heads"},
      {with({"--world", "0"}), "--world"},
      {with({"--memory", "nan"}), "--memory"},
      {with({"--gpu", "a100"}), "--gpu 'a100' was not measured; known: h100, h200; for another one give --figures"},
      {with({"--gpu", "h200", "--figures", kTimes}), "excludes"},
      {with({"--figures", RINGCHECK_SOURCE_DIR "/reports/results/cpu_smoke.json"}), "it is of kind verify, not scaling"},
      {with({"--figures", RINGCHECK_SOURCE_DIR "/reports/results/h200_gpu2_scaling_nccl.json"}), "two lengths"},
      {with({"--figures", kPage}), "docs/plan.md"},
      {with({"--figures", kTimes, "--json", kTimes}), "--json"}};
  for (const auto& [words, text] : wrong) {
    const Ran ran = plan(words);
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(text));
    EXPECT_THAT(ran.out, IsEmpty());
  }
}

}  // namespace
}  // namespace ringcheck::testing
