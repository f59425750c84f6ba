// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "property_tests/cli/program.h"
#include "property_tests/reports/full_result.h"
#include "reports/file.h"

namespace ringcheck::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::read_text;
using testing::write_text;

class JournalTest : public ::testing::Test {
 protected:
  // Three cases: one ended, one is running.
  std::string text() const {
    Journal journal(path());
    Result nothing = full_result();
    nothing.cases = {case_of(Status::kSkipped), case_of(Status::kSkipped), case_of(Status::kSkipped)};
    journal.head(nothing);
    journal.began(0);
    journal.ended(0, failed(false));
    journal.began(1);
    return read_text(path());
  }
  static std::string refusal(const std::string& text) {
    try {
      read_journal(text);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "read";
  }
  std::string path() const { return folder_.file("journal"); }

  testing::Folder folder_;
};

TEST_F(JournalTest, SaysWhatEndedAndWhatRuns) {
  const Journaled known = read_journal(text());
  EXPECT_THAT(known.ended, ElementsAre(true, false, false));
  EXPECT_EQ(known.running, 1U);
  EXPECT_EQ(to_json(known.result.cases[0]), to_json(failed(false)));
  EXPECT_EQ(known.result.cases[1].verdict, Status::kSkipped);
  EXPECT_EQ(known.result.summary.failed, 1);
  EXPECT_EQ(known.result.summary.skipped, 2);
}

// Wherever it is cut behind the first line, it is read, and no case has another verdict for it.
TEST_F(JournalTest, IsReadUpToWhereItIsCut) {
  const std::string whole = text();
  const size_t first = whole.find('\n'), ended = whole.find("\"ended\""),
               its_end = whole.find('\n', ended);
  for (size_t size = 0; size <= whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    if (size < first) {
      EXPECT_THAT(refusal(cut), size == 0 ? HasSubstr("empty") : HasSubstr("its first line is cut"));
      continue;
    }
    const Journaled known = read_journal(cut);
    EXPECT_EQ(known.ended[0], size >= its_end) << size;
    EXPECT_EQ(known.result.cases[0].verdict,
              size >= its_end ? Status::kFail : Status::kSkipped) << size;
  }
}

TEST_F(JournalTest, WhatIsNoneIsRefused) {
  const std::string whole = text();
  nlohmann::json first = nlohmann::json::parse(whole.substr(0, whole.find('\n')));
  const std::string rest = whole.substr(whole.find('\n'));
  const auto with = [&](const char* member, const nlohmann::json& value) {
    nlohmann::json other = first;
    other[member] = value;
    return other.dump() + rest;
  };
  EXPECT_THAT(refusal("hello\nworld\n"), HasSubstr("no JSON"));
  EXPECT_THAT(refusal("[1]\n"), HasSubstr("no member journal"));
  EXPECT_THAT(refusal(with("journal", 2)), HasSubstr("journal of version 2, this program reads 1"));
  EXPECT_THAT(refusal(with("schema_version", 3)), HasSubstr("schema version 3"));
  EXPECT_THAT(refusal(with("schema_version", 1)), HasSubstr("schema version 1"));
  EXPECT_THAT(refusal(with("kind", "scaling")), HasSubstr("kind scaling"));
  EXPECT_THAT(refusal(with("cases", 7)), HasSubstr("line 1"));
  EXPECT_THAT(refusal(first.dump() + "\n{\"began\":3,\"at\":1}\n"), HasSubstr("case 3 of 3"));
  EXPECT_THAT(refusal(first.dump() + "\n{\"began\":-1,\"at\":1}\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal(first.dump() + "\n{\"began\"\n{\"began\":1,\"at\":1}\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal(first.dump() + "\n[]\n"), HasSubstr("line 2"));
  for (const char* number : {"1.0", "1.5", "1e300", "\"1\"", "18446744073709551615", "null"})
    EXPECT_THAT(refusal(first.dump() + "\n{\"began\":" + number + ",\"at\":1}\n"),
                HasSubstr("line 2: it speaks of case")) << number;
  EXPECT_THAT(refusal(first.dump() + "\n{\"began\":1,\"began\":0,\"at\":1}\n"), HasSubstr("twice"));
  EXPECT_THAT(refusal("{\"journal\":" + std::string(1000, '[') + std::string(1000, ']') + "}\n"),
              HasSubstr("deeper than 100"));
}

// Cases run one after the other, each once: a line that says something else changes no verdict.
TEST_F(JournalTest, TellsOfOneCaseAtATime) {
  const std::string whole = text(), first = whole.substr(0, whole.find('\n') + 1);
  const auto began = [](int test) { return "{\"began\":" + std::to_string(test) + ",\"at\":1}\n"; };
  const auto ended = [](int test) {
    const nlohmann::json line{{"ended", test}, {"at", 1}, {"case", to_json(failed(false))}};
    return line.dump() + "\n";
  };
  EXPECT_EQ(refusal(first + began(0) + ended(0) + began(2) + ended(2) + began(1)), "read");
  EXPECT_THAT(refusal(first + began(0) + ended(0) + began(0)), HasSubstr("line 4: case 0 has ended"));
  EXPECT_THAT(refusal(first + began(0) + ended(0) + ended(0)), HasSubstr("line 4: case 0 has ended"));
  EXPECT_THAT(refusal(first + began(0) + ended(1)), HasSubstr("line 3: case 1 ends and had not begun"));
  EXPECT_THAT(refusal(first + ended(1)), HasSubstr("line 2: case 1 ends and had not begun"));
  EXPECT_THAT(refusal(first + began(0) + began(1)), HasSubstr("line 3: case 1 begins while case 0"));
}

TEST_F(JournalTest, LastsUntilItsLastLine) {
  const std::string whole = text(), first = whole.substr(0, whole.find('\n') + 1);
  const auto seconds = [](const std::string& journal) {
    return read_journal(journal).result.environment.wall_seconds;
  };
  const std::string began = "{\"began\":0,\"at\":7.5}\n";
  const nlohmann::json ended{{"ended", 0}, {"at", 9.25}, {"case", to_json(failed(false))}};
  EXPECT_EQ(seconds(first + began), 7.5);
  EXPECT_EQ(seconds(first + began + ended.dump() + "\n"), 9.25);
  nlohmann::json earlier = ended;
  earlier["at"] = 7.25;
  EXPECT_THAT(refusal(first + began + earlier.dump() + "\n"),
              HasSubstr("line 3: it is of second 7.25, the line before it of second 7.5"));
  EXPECT_THAT(refusal(first + "{\"began\":0,\"at\":-1}\n"), HasSubstr("line 2: it is of second -1"));
}

TEST_F(JournalTest, ACaseEndsUnderItsName) {
  const std::string whole = text(), first = whole.substr(0, whole.find('\n') + 1);
  CaseResult other = failed(false);
  other.name = "another";
  const nlohmann::json ended{{"ended", 0}, {"at", 1}, {"case", to_json(other)}};
  EXPECT_THAT(refusal(first + "{\"began\":0,\"at\":1}\n" + ended.dump() + "\n"),
              HasSubstr("line 3: case 0 is '" + failed(false).name + "' in the first line and 'another' where it ends"));
}

TEST_F(JournalTest, EveryOneThatIsLeftIsKept) {
  for (const std::string number : {"1", "2", "3"}) {
    write_text(path(), "left by run " + number);
    EXPECT_EQ(Journal(path()).earlier(), path() + "." + number);
  }
  for (const std::string number : {"1", "2", "3"})
    EXPECT_EQ(read_text(path() + "." + number), "left by run " + number);
}

TEST_F(JournalTest, HasOneWriter) {
  {
    const Journal journal(path());
    EXPECT_TRUE(is_being_written(path()));
    EXPECT_THROW(Journal{path()}, Unwritable);
  }
  EXPECT_FALSE(is_being_written(path()));
  EXPECT_EQ(Journal(path()).earlier(), "");  // empty: nothing to keep
  std::filesystem::create_directory(folder_.file("folder"));
  EXPECT_THROW(Journal{folder_.file("folder")}, Unwritable);
}

// What an earlier run leaves may still be at its journal, and removes it at its end: the next one waits, and writes
// into a file that is there.
TEST_F(JournalTest, WaitsForAWriterThatEndsWell) {
  auto earlier = std::make_unique<Journal>(path());
  earlier->head(full_result());
  const std::jthread ends([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    earlier->remove();
    earlier.reset();
  });
  Journal next(path());
  EXPECT_EQ(next.earlier(), "");
  next.head(full_result());
  EXPECT_FALSE(read_text(path()).empty());
}

}  // namespace
}  // namespace ringcheck::reports
