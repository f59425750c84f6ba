// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// A result may be somebody else's: what it holds is shown, and never obeyed by a terminal.
#include <gmock/gmock.h>

#include "property_tests/reports/full_result.h"
#include "reports/formats/format.h"
#include "reports/screen/console.h"
#include "reports/text.h"

namespace ringcheck::reports {
namespace {

using ::testing::HasSubstr;

const char* const kHostile = "red\x1b[31m\x07 \x7f tab\tline\nback\r \xc2\x9b"
                             "1m \xff\xc3\x28 \xe2\x80\xae \xe2\x81\xa6 \xe2\x80\x8f";

// Every text that a result may hold, with that behind it.
Result hostile() {
  Result result = full_result();
  Environment& at = result.environment;
  for (std::string* text : {&at.version, &at.commit, &at.libtorch, &at.mpi, &at.compiler, &at.host, &at.cpu,
                            &at.system, &at.launcher, &at.transport, &at.device, &at.command, &at.started})
    *text += kHostile;
  for (CaseResult& test : result.cases) {
    for (std::string* text : {&test.name, &test.group, &test.reason, &test.reproduce, &test.log}) *text += kHostile;
    test.findings.push_back(kHostile);
    test.explained.push_back(kHostile);
    test.parts[kHostile] = kHostile;
    test.judged[kHostile] = {"nobody"};
    for (OracleResult& oracle : test.oracles) {
      oracle.name += kHostile;
      oracle.findings.push_back(kHostile);
      for (TensorResult& tensor : oracle.tensors) {
        tensor.tensor += kHostile;
        tensor.worst += kHostile;
      }
    }
  }
  for (Measurement& one : result.measurements) {
    one.name += kHostile;
    one.unit += kHostile;
    one.parts[kHostile] = kHostile;
  }
  return result;
}

void expect_visible(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text, at);
    ASSERT_GT(length, 0U) << "no UTF-8 at " << at << ": " << visible(text.substr(at, 20));
    ASSERT_TRUE(text[at] == '\n' || !is_control(text, at)) << "at " << at << ": " << visible(text.substr(at, 20));
    at += length;
  }
}

TEST(Visible, NoDirectionIsTurned) {
  for (const char* text : {"\u061c", "\u200b", "\u200e", "\u200f", "\u2028", "\u202a", "\u202e", "\u2066", "\u2069"})
    EXPECT_TRUE(is_control(text, 0)) << visible(text);
  for (const char* text : {"\u061b", "\u200a", "\u2010", "\u2027", "\u202f", "\u2065", "\u206a"})
    EXPECT_FALSE(is_control(text, 0)) << visible(text);
}

TEST(Visible, LeavesWhatIsNoControl) {
  EXPECT_EQ(visible("ring:p2p 32 \u00b5s \u2264 \U0001f600"), "ring:p2p 32 \u00b5s \u2264 \U0001f600");
  EXPECT_EQ(visible(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(visible("\x1b[2J\n"), "\\x1b[2J\\x0a");
  EXPECT_EQ(visible("\xc2\x9b"), "\\xc2\\x9b");  // one character, which some terminals take for ESC [
  EXPECT_EQ(visible("\xff"), "\\xff");
}

TEST(Visible, IsAllThatAResultShows) {
  const Result result = hostile();
  for (const Status verdict : {Status::kFail, Status::kPass, Status::kSkipped}) {
    Result other = result;
    for (CaseResult& test : other.cases) test.verdict = verdict;
    expect_visible(console_report(other, 1));
    expect_visible(formats().at("markdown").text(other));
    for (const CaseResult& test : other.cases) expect_visible(console_line(test));
  }
  expect_visible(console_header(result.environment, kHostile));
  EXPECT_THAT(console_report(result, 1), HasSubstr("\\x1b[31m\\x07"));
}

}  // namespace
}  // namespace ringcheck::reports
