// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// `ringcheck result recover` and what is no journal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "property_tests/cli/program.h"
#include "property_tests/reports/full_result.h"
#include "reports/journal.h"

namespace ringcheck::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using reports::Status;
using Words = std::vector<std::string>;

class Recover : public ::testing::Test {
 protected:
  // Of two cases, the first of which ended.
  void write_journal() const {
    reports::Journal journal(path());
    reports::Result nothing = reports::full_result();
    nothing.cases = {reports::case_of(Status::kSkipped), reports::case_of(Status::kSkipped)};
    journal.head(nothing);
    journal.began(0);
    journal.ended(0, reports::case_of(Status::kPass));
  }
  Ran recover(const std::string& journal, const Words& words) const {
    Words all{"result", "recover", journal};
    all.insert(all.end(), words.begin(), words.end());
    return ringcheck(all);
  }
  void expect_bad(const std::string& journal, const std::string& why) const {
    write_text(file("old.json"), "what was there");
    const Ran ran = recover(journal, {"-o", file("old.json")});
    EXPECT_EQ(ran.code, 2) << why;
    EXPECT_THAT(ran.err, AllOf(HasSubstr(journal), HasSubstr(why), HasSubstr("want the journal")));
    EXPECT_EQ(read_text(file("old.json")), "what was there");
  }
  std::string path() const { return file("result.json.journal"); }
  std::string file(const std::string& name) const { return folder_.file(name); }

  Folder folder_;
};

TEST_F(Recover, TheNextCaseIsToBlameWhereNoneRan) {
  write_journal();
  const Ran ran = recover(path(), {"-o", "-"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto cases = nlohmann::json::parse(ran.out)["cases"];
  EXPECT_EQ(cases[0]["verdict"], "pass");
  EXPECT_EQ(cases[1]["verdict"], "crash");
  EXPECT_THAT(cases[1]["reason"].get<std::string>(), HasSubstr("before it began"));
  EXPECT_THAT(ran.err, HasSubstr("2 cases: 1 passed, 1 CRASH"));
  EXPECT_TRUE(std::filesystem::exists(path()));
}

TEST_F(Recover, WhatIsNoJournalIsBadInput) {
  expect_bad(file("nowhere"), "No such file");
  write_text(file("empty"), "");
  expect_bad(file("empty"), "it is empty");
  write_text(file("text"), "hello\n");
  expect_bad(file("text"), "no JSON");
  ::mkfifo(file("pipe").c_str(), 0600);
  expect_bad(file("pipe"), "no regular file");
  expect_bad(folder_.path(), "no regular file");
  expect_bad(RINGCHECK_SOURCE_DIR "/reports/results/cpu_smoke.json", "first line");
  write_journal();
  write_text(file("later"), [&] {
    std::string text = read_text(path());
    return text.replace(text.find("\"schema_version\":2"), 18, "\"schema_version\":9");
  }());
  expect_bad(file("later"), "schema version 9");
}

TEST_F(Recover, FilesThatContradictAreBadInput) {
  write_journal();
  const std::string before = read_text(path());
  EXPECT_EQ(recover(path(), {}).code, 2);
  EXPECT_EQ(recover(path(), {"-o", path()}).code, 2);
  EXPECT_EQ(recover(path(), {"-o", file("same"), "--junit", file("same")}).code, 2);
  EXPECT_EQ(recover(path(), {"-o", file("new"), "--junit", "/nowhere/junit.xml"}).code, 2);
  EXPECT_FALSE(std::filesystem::exists(file("new")));
  EXPECT_EQ(read_text(path()), before);
  EXPECT_EQ(ringcheck({"result"}).code, 2);
}

}  // namespace
}  // namespace ringcheck::testing
