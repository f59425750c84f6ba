// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The real command with --resume: what a run that was ended had judged is not judged again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;
using nlohmann::json;

// Of eight heads, each of which is judged for some tenths of a second.
const char* const kCase = "ring:p2p/headtail/causal/P2/b1/hq32/hkv8/s1500/d64/bf16";

size_t files_in(const std::string& folder) {
  std::error_code none;
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder, none)) count += entry.path().extension() == ".safetensors" ? 1 : 0;
  return count;
}

// What parity said, but for how long it took.
json parity_in(const std::string& file) {
  json result = json::parse(read_text(file));
  for (json& oracle : result["cases"][0]["oracles"])
    if (oracle["name"] == "parity") {
      oracle.erase("seconds");
      return oracle;
    }
  return {};
}

TEST(Resume, GoesOnAfterARunThatWasKilled) {
  const Folder folder;
  const std::string kept = folder.file("kept"), result = folder.file("result.json"), whole = folder.file("whole.json");
  Running first({ringcheck_program(), "verify", "--case", kCase, "--resume", kept});
  ASSERT_TRUE(wait_until(60, [&] { return files_in(kept) >= 2; }));
  first.signal(SIGKILL);
  first.wait();
  ASSERT_TRUE(wait_until(60, [&] { return first.workers().empty(); }));
  const size_t before = files_in(kept);
  ASSERT_LT(before, 8);
  const Ran ran = ringcheck({"verify", "--case", kCase, "--resume", kept, "--json", result});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(files_in(kept), 8);
  ASSERT_EQ(ringcheck({"verify", "--case", kCase, "--json", whole}).code, 0);
  json parity = parity_in(result);
  EXPECT_THAT(parity["findings"].back().get<std::string>(),
              HasSubstr("key-value head " + std::to_string(before) + " were judged before"));
  parity["findings"].erase(parity["findings"].size() - 1);
  EXPECT_EQ(parity, parity_in(whole));
}

TEST(Resume, RefusesWhatItCannotUse) {
  const Folder folder;
  write_text(folder.file("file"), "");
  const auto refused = [&](const std::vector<std::string>& more, const auto& says) {
    std::vector<std::string> words{"verify", "--seq", "64"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = ringcheck(words);
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_THAT(ran.err, says);
  };
  refused({"--resume", folder.file("file")}, AllOf(HasSubstr(folder.file("file")), HasSubstr("it is no folder")));
  refused({"--resume", folder.file("no/folder")}, HasSubstr("No such file or directory"));
  refused({"--resume", folder.file("kept"), "--sample", "8"}, HasSubstr("leave --sample, --bundle or --resume out"));
  refused({"--resume", folder.file("kept"), "--bundle", folder.file("bundle")}, HasSubstr("--bundle or --resume out"));
  refused({"--resume", folder.file("kept"), "--list"}, HasSubstr("--resume"));
  refused({"--resume", folder.file("kept"), "--oracles", "counters,leak"}, HasSubstr("add parity, or leave --resume out"));
  const Ran large = ringcheck({"verify", "--resume", folder.file("kept"), "--case", "P1/b1/hq64/hkv64/s64M/d128/float64"});
  EXPECT_EQ(large.code, 2) << large.out;
  EXPECT_THAT(large.err, HasSubstr("memory"));
  EXPECT_FALSE(fs::exists(folder.file("kept")));
}

}  // namespace
}  // namespace ringcheck::testing
