// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// docs/detection.md and README.md say what the committed results say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "property_tests/parity/faults/detection_gate.h"
#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using ::testing::HasSubstr;

std::string committed(const std::string& path) {
  return std::string(RINGCHECK_SOURCE_DIR) + "/" + path;
}

Ran page_of(const std::string& matrix) {
  return ringcheck({"detection", matrix, committed("reports/results/cpu_sensitivity.json"),
                    committed("reports/results/cpu_clean_1.summary.json"),
                    committed("reports/results/cpu_clean_2.summary.json"),
                    committed("reports/results/cpu_clean_3.summary.json"),
                    committed("reports/results/cpu_clean_4.summary.json"), "--profile",
                    committed("reports/results/cpu_faults_smoke.json"), "--profile",
                    committed("reports/results/cpu_faults_conformance.json")});
}

// White space as single spaces: README breaks lines elsewhere.
std::string words_of(const std::string& text) {
  std::istringstream stream(text);
  std::string words;
  for (std::string word; stream >> word;) words += word + " ";
  return words;
}

TEST(DetectionPage, IsThatOfTheCommittedResults) {
  const Ran ran = page_of(committed("reports/results/cpu_faults.json"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(ran.out == read_text(committed("docs/detection.md")))
      << "docs/detection.md is not what `ringcheck detection` writes: see docs/cli.md";
}

TEST(DetectionPage, SaysInShortWhatReadmeSays) {
  const std::string page = read_text(committed("docs/detection.md"));
  const size_t begin = page.find("\n\n") + 2, end = page.find("\n\n", begin);
  const std::string in_short = words_of(page.substr(begin, end - begin));
  EXPECT_THAT(in_short, HasSubstr("plants"));
  EXPECT_THAT(words_of(read_text(committed("README.md"))), HasSubstr(in_short));
}

TEST(DetectionPage, FollowsItsFigures) {
  const Folder folder;
  auto matrix = committed_result("cpu_faults.json");
  for (auto& cell : own_part(matrix)["cells"])
    if (cell["result"] == "killed") cell["result"] = "survived";
  write_text(folder.file("cpu_faults.json"), matrix.dump());
  const Ran ran = page_of(folder.file("cpu_faults.json"));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("**survived**"), HasSubstr(" 0 are killed")));
}

// What was written before results had a kind and what is written now give the same page.
TEST(DetectionPage, ReadsResultsOfAKindAsThoseBefore) {
  const Folder folder;
  const auto file = committed_result("cpu_faults.json");
  const auto said = [&](const char* now, const char* before) {
    return file.contains("kind") ? file.at("environment").at(now) : file.at(before);
  };
  const Ran fresh = ringcheck({"faults", "--fault", "length_rounded_down", "--dtype", "bf16",
                               "--json", folder.file("fresh.json")});
  ASSERT_EQ(fresh.code, 0) << fresh.err;
  auto now = nlohmann::json::parse(read_text(folder.file("fresh.json")));
  auto before = own_part(file);
  now["faults"] = before;
  for (const auto& [member, earlier] : {std::pair("commit", "commit"), {"cpu", "cpu"},
                                        {"cores", "cores"}, {"wall_seconds", "seconds"}}) {
    now["environment"][member] = said(member, earlier);
    before[earlier] = said(member, earlier);
  }
  const Ran page = page_of(committed("reports/results/cpu_faults.json"));
  for (const auto& form : {now, before}) {
    write_text(folder.file("cpu_faults.json"), form.dump());
    const Ran ran = page_of(folder.file("cpu_faults.json"));
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(ran.out == page.out);
  }
  now["kind"] = "sensitivity";
  write_text(folder.file("wrong.json"), now.dump());
  EXPECT_EQ(page_of(folder.file("wrong.json")).code, 2);
}

// Whether a profile sees a fault is a column, beside what the fault's own cases say.
TEST(DetectionPage, HasAColumnForAProfile) {
  const Folder folder;
  const std::string seen = folder.file("smoke.json");
  const Ran ran = ringcheck({"faults", "--profile", "smoke", "--fault",
                             "dq_zero,output_cached_by_keys", "--json", seen});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("planted bugs seen in cases of profile smoke: 2 of 2"));
  const Ran page = ringcheck({"detection", committed("reports/results/cpu_faults.json"),
                              committed("reports/results/cpu_sensitivity.json"),
                              committed("reports/results/cpu_clean.summary.json"), "--profile",
                              seen});
  ASSERT_EQ(page.code, 0) << page.err;
  EXPECT_THAT(page.out, AllOf(HasSubstr("- profile smoke itself kills 2 of 2"),
                              HasSubstr("| fp16 | smoke | ms | seen by |"),
                              HasSubstr("`ringcheck faults --profile smoke`")));
  const auto json = nlohmann::json::parse(read_text(seen));
  EXPECT_EQ(own_part(json).at("profile"), "smoke");
  for (const auto& cell : own_part(json).at("cells"))
    EXPECT_EQ(cell.contains("case"), cell.at("result") == "killed") << cell.dump();
  // A matrix of the faults' own cases is no column.
  const Ran wrong = ringcheck({"detection", committed("reports/results/cpu_faults.json"),
                               committed("reports/results/cpu_sensitivity.json"),
                               committed("reports/results/cpu_clean.summary.json"), "--profile",
                               committed("reports/results/cpu_faults.json")});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("their own cases"));
}

std::set<std::string> killed(const nlohmann::json& matrix, bool localised = false) {
  std::set<std::string> names;
  for (const auto& cell : own_part(matrix).at("cells"))
    if (cell.at("result") == "killed" && cell.at("killer") != "self-test" && (!localised || cell.at("localised")))
      names.insert(cell.at("fault"));
  return names;
}

// Of the planted bugs of a subject that there are, those added since included.
TEST(CommittedProfiles, SeeByThemselvesNearlyAllAndNameThePlaceOfMost) {
  const std::set<std::string> all = killed(committed_result("cpu_faults.json"));
  ASSERT_GT(all.size(), 190U);
  for (const char* file : {"cpu_faults_smoke.json", "cpu_faults_conformance.json"}) {
    const auto matrix = committed_result(file);
    const auto seen = killed(matrix), placed = killed(matrix, true);
    std::vector<std::string> unseen;
    std::ranges::set_difference(all, seen, std::back_inserter(unseen));
    EXPECT_LE(unseen.size(), all.size() / 50) << file << ": " << ::testing::PrintToString(unseen);
    EXPECT_GE(10 * placed.size(), 9 * seen.size()) << file;
  }
}

TEST(DetectionPage, RefusesWhatIsNoResult) {
  for (const char* file : {"README.md", "reports/results/cpu_smoke.json", "nothing.json"}) {
    const Ran ran = page_of(committed(file));
    EXPECT_EQ(ran.code, 2);
    EXPECT_THAT(ran.err, HasSubstr(file));
    EXPECT_EQ(ran.out, "");
  }
}

}  // namespace
}  // namespace ringcheck::testing
