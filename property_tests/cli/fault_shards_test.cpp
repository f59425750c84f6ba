// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The faults in the cases of a profile, in one dtype, shared by several runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "property_tests/cli/program.h"
#include "property_tests/parity/faults/detection_gate.h"

namespace ringcheck::testing {
namespace {

using ::testing::HasSubstr;
using nlohmann::json;

Ran faults(std::vector<std::string> words) {
  words.insert(words.begin(), "faults");
  return ringcheck(words);
}

class Shards : public ::testing::Test {
 protected:
  json hunted(const std::string& name, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"--profile", "smoke", "--dtype", "bf16", "--jobs", "1", "--fault",
                                   "dq_zero,gradients_not_reduced,scale_applied_twice", "--json",
                                   folder_.file(name)};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = faults(words);
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    return own_part(json::parse(read_text(folder_.file(name))));
  }
  // Of the cells, all but how long they took.
  static json verdicts(const json& matrix) {
    json cells = matrix.at("cells");
    for (json& cell : cells)
      for (const char* changing : {"milliseconds", "killer", "finding"}) cell.erase(changing);
    return cells;
  }
  Folder folder_;
};

TEST_F(Shards, PutTogetherAreTheWhole) {
  const json whole = hunted("whole");
  ASSERT_EQ(whole.at("cells").size(), 3U);
  EXPECT_EQ(whole.at("dtypes"), json({"bf16"}));
  for (const json& cell : whole.at("cells")) {
    EXPECT_EQ(cell.at("result"), "killed") << cell;
    EXPECT_THAT(cell.at("case").get<std::string>(), HasSubstr("/bf16/"));
    EXPECT_FALSE(cell.at("killer").get<std::string>().empty());
  }
  EXPECT_EQ(whole.at("cells").at(0).at("names_tensor"), true);
  EXPECT_EQ(hunted("one", {"--shard", "1/2"}).at("cells").size(), 2U);
  EXPECT_EQ(hunted("two", {"--shard", "2/2"}).at("cells").size(), 1U);
  const Ran ran = faults({"--merge", folder_.file("two"), "--merge", folder_.file("one"), "--json",
                          folder_.file("all")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("planted bugs seen in cases of profile smoke: 3 of 3"));
  const json all = own_part(json::parse(read_text(folder_.file("all"))));
  EXPECT_EQ(verdicts(all), verdicts(whole));
  EXPECT_EQ(all.at("score"), whole.at("score"));
  EXPECT_FALSE(all.contains("shard"));
  const auto refused = [&](std::vector<std::string> files, const char* why) {
    files.insert(files.begin(), "--merge");
    const Ran merge = faults(files);
    EXPECT_EQ(merge.code, 2);
    EXPECT_THAT(merge.err, HasSubstr(why));
  };
  refused({folder_.file("one")}, "1 of 2 shards");
  refused({folder_.file("one"), folder_.file("one")}, "every shard of one run once");
  refused({folder_.file("whole")}, "no shard");
}

TEST_F(Shards, AreRefusedWhereThereIsNoSuch) {
  for (const char* text : {"0/2", "3/2", "2", "a/b", "1/2/3", "1/1001", "-1/2"}) {
    const Ran ran = faults({"--profile", "smoke", "--shard", text});
    EXPECT_EQ(ran.code, 2) << text;
    EXPECT_THAT(ran.err, HasSubstr("want I/N with 1 <= I <= N <= 1000")) << text;
  }
}

}  // namespace
}  // namespace ringcheck::testing
