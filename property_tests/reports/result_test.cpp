// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// The Result model, its JSON and its renderings.
#include "reports/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include "property_tests/reports/committed_results.h"
#include "property_tests/reports/full_result.h"
#include "property_tests/reports/json_schema.h"
#include "property_tests/cli/program.h"
#include "property_tests/property.h"
#include "reports/screen/console.h"
#include "reports/envelope.h"
#include "reports/file.h"
#include "reports/formats/junit.h"
#include "reports/text.h"

namespace ringcheck::reports {
namespace {

using testing::Folder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using testing::read_text;

TEST(Result, JsonComesBackAsItWas) {
  const Result result = full_result();
  const nlohmann::json json = to_json(result);
  EXPECT_EQ(to_json(result_from_json(nlohmann::json::parse(
                        json.dump(-1, ' ', false, nlohmann::json::error_handler_t::ignore))))
                .at("cases")[0]
                .at("oracles"),
            json.at("cases")[0].at("oracles"));
  EXPECT_EQ(to_json(result_from_json(json)), json);
  const TensorResult back = result_from_json(json).cases[0].oracles[0].tensors[0];
  EXPECT_TRUE(std::isnan(back.max_abs));
  EXPECT_EQ(back.rms_z, kInfinity);
  EXPECT_EQ(back.max_z, -kInfinity);
  const std::vector<Measurement> measured = result_from_json(json).measurements;
  ASSERT_EQ(measured.size(), 2U);
  EXPECT_EQ(measured[0].limit, 0.75);
  EXPECT_TRUE(std::isnan(measured[0].samples[1]));
  EXPECT_FALSE(measured[1].limit);
}

// Every result of verify that is committed is read, whatever its version, and is written again as

// one of this version.

TEST(Result, CommittedResultsAreRead) {
  const auto schema =
      nlohmann::json::parse(read_text(RINGCHECK_SOURCE_DIR "/reports/result.schema.json"));
  int read = 0;
  for (const auto& path : testing::committed_results()) {
    const auto json = nlohmann::json::parse(read_text(path));
    if (!json.contains("schema_version") || json.value("kind", "verify") != "verify") continue;
    ++read;
    const Result result = result_from_json(json);
    EXPECT_EQ(static_cast<size_t>(result.summary.cases), result.cases.size()) << path;
    EXPECT_EQ(result.summary.cases, json["cases"].size()) << path;
    const nlohmann::json now = to_json(result);
    EXPECT_THAT(testing::schema_violations(schema, now), IsEmpty()) << path;
    EXPECT_EQ(now["summary"], json["summary"]);
    EXPECT_EQ(now["cases"][0]["name"], json["cases"][0]["name"]);
  }
  EXPECT_GT(read, 0);
}

RC_GTEST_PROP(Result, EveryFigureSurvivesJson, ()) {
  CaseResult test = case_of(Status::kPass);
  const auto bits = *rc::gen::arbitrary<uint64_t>().as("bits");
  test.float32_angles_off = Figure{std::bit_cast<double>(bits)};
  const Figure back = case_from_json(nlohmann::json::parse(to_json(test).dump())).float32_angles_off.value();
  if (std::isnan(back))
    RC_ASSERT(std::isnan(*test.float32_angles_off));
  else
    RC_ASSERT(std::bit_cast<uint64_t>(back.value) == bits);
}

TEST(Result, FilesHaveALineForACaseAndAnyBytes) {
  const Result result = full_result();
  const std::string text = file_text(to_json(result));
  const auto lines = std::count(text.begin(), text.end(), '\n');
  EXPECT_GT(lines, 30);
  EXPECT_LT(lines, 60);
  nlohmann::json expected = to_json(result);
  expected["cases"][0]["log"] = "line\n\x01\xef\xbf\xbd <&>\"'";
  EXPECT_EQ(nlohmann::json::parse(text), expected);
}

TEST(Result, ForeignJsonIsRefused) {
  EXPECT_THROW(result_from_json(nlohmann::json::object()), std::invalid_argument);
  EXPECT_THROW(result_from_json(nlohmann::json::array()), std::invalid_argument);
  nlohmann::json later = to_json(full_result());
  later["schema_version"] = kSchemaVersion + 1;
  EXPECT_THROW(result_from_json(later), std::invalid_argument);
  nlohmann::json unknown = to_json(full_result());
  unknown["cases"][0]["verdict"] = "perfect";
  EXPECT_THROW(result_from_json(unknown), std::invalid_argument);
}

TEST(Result, WhatIsWrongNamesItsPart) {
  for (const auto& [where, value, says] : std::vector<std::tuple<const char*, nlohmann::json, const char*>>{
           {"/environment/cores", "a", "environment: type must be number, but is string"},
           {"/environment/cores", 1e30, "environment: cores is 1e+30; want a whole number"},
           {"/cases/0/name", 3, "case 1: type must be string, but is number"},
           {"/cases", 3, "case: want a list"},
           {"/kind", 3, "kind"}}) {
    nlohmann::json file = to_json(full_result());
    file[nlohmann::json::json_pointer(where)] = value;
    EXPECT_THAT([&] { result_from_json(file); }, ::testing::ThrowsMessage<std::invalid_argument>(HasSubstr(says)));
  }
}

// Read as integers they would be something else.

TEST(Result, CountsThatAreNoneAreRefused) {
  for (const char* where : {"peak_bytes", "forward/messages", "backward/flops", "call/bytes_sent", "sent_to/0"})
    for (const char* number : {"2.5", "-1", "1e30", "9223372036854775808", "-9223372036854775809"}) {
      nlohmann::json file = to_json(full_result());
      file[nlohmann::json::json_pointer("/cases/0/ranks/0/" + std::string(where))] = nlohmann::json::parse(number);
      EXPECT_THROW(result_from_json(file), std::invalid_argument) << where << " " << number;
    }
  nlohmann::json file = to_json(full_result());
  file["cases"][0]["ranks"][0]["peak_bytes"] = 9223372036854775807;
  EXPECT_EQ(result_from_json(file).cases[0].ranks[0].peak_bytes, 9223372036854775807);
}

TEST(Result, WhatNoRunCanHaveWrittenIsRefused) {
  const CaseResult right = full_result().cases[0];
  const auto refused = [&](const char* why, const std::function<void(CaseResult&)>& change) {
    CaseResult wrong = right;
    change(wrong);
    try {
      case_from_json(to_json(wrong));
      ADD_FAILURE() << why;
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  };
  EXPECT_NO_THROW(case_from_json(to_json(right)));
  CaseResult quick = right;
  quick.seconds = 0;
  EXPECT_NO_THROW(case_from_json(to_json(quick)));
  refused("took -1", [](CaseResult& test) { test.seconds = -1; });
  refused("rank 0 twice", [](CaseResult& test) { test.ranks.push_back(test.ranks[0]); });
  refused("its oracle counters fails", [](CaseResult& test) { test.verdict = Status::kPass; });
}

TEST(Result, ASummaryIsThatOfItsCases) {
  for (const char* count : {"cases", "passed", "failed", "hang", "crash", "skipped", "inconclusive", "not_supported"})
    for (const int64_t off : {-1, 1}) {
      nlohmann::json file = to_json(full_result());
      file["summary"][count] = file["summary"][count].get<int64_t>() + off;
      EXPECT_THROW(result_from_json(file), std::invalid_argument) << count << " " << off;
    }
}

TEST(Result, ExitCodesHaveAnOrder) {
  const CaseResult pass = case_of(Status::kPass), hang = case_of(Status::kHang),
                   crash = case_of(Status::kCrash), unclear = case_of(Status::kInconclusive),
                   skipped = case_of(Status::kSkipped), refused = case_of(Status::kNotSupported);
  EXPECT_EQ(exit_code({pass}), 0);
  EXPECT_EQ(exit_code({pass, refused}), 0);
  EXPECT_EQ(exit_code({pass, failed(false), failed(true), unclear}), 1);
  EXPECT_EQ(exit_code({pass, failed(true), unclear}), 4);
  EXPECT_EQ(exit_code({failed(false), hang}), 5);
  EXPECT_EQ(exit_code({crash, pass}), 5);
  EXPECT_EQ(exit_code({pass, unclear}), 6);
  EXPECT_EQ(exit_code({pass, skipped}), 6);
  EXPECT_EQ(exit_code({unclear}), 6);
  EXPECT_EQ(exit_code({refused, skipped}), 77);
  EXPECT_EQ(exit_code({}), 77);
}

TEST(Result, AFailureOfUnknownKindIsACorrectnessFailure) {
  EXPECT_EQ(exit_code({case_of(Status::kFail)}), 1);
}

TEST(Junit, IsWellFormedWhateverTheTextsHold) {
  const Folder folder;
  Result result = full_result();
  result.cases[0].reason = "a < b && \"c\" \x02 \xc3\x28 ]]> \xef\xbf\xbf";
  write_file(folder.file("junit.xml"), junit(result));
  EXPECT_TRUE(testing::is_xml(folder.file("junit.xml"))) << junit(result);
  EXPECT_THAT(junit(result), HasSubstr("tests=\"3\" failures=\"1\" errors=\"1\" time="));
  EXPECT_THAT(junit(result), HasSubstr("<system-err>"));
}

TEST(Console, NothingIsWiderThanATerminal) {
  CaseResult widest = failed(false);
  widest.group = "thread ring:allgather[keep] contiguous";
  TensorResult tensor;
  tensor.hard_ratio = -1.23456e-300;
  tensor.max_z = kNan;
  tensor.vacuity = kInfinity;
  widest.oracles[0].tensors = {tensor};
  widest.oracles[0].findings = {std::string(30, 'a') + " " + std::string(60, 'b') + " c"};
  CaseResult skipped = case_of(Status::kSkipped);
  skipped.group = "thread planted[a_bug_with_a_name_that_is_too_long_for_a_column] striped";
  std::istringstream text(console_report(result_of({widest, skipped}), 1));
  for (std::string line; std::getline(text, line);)
    EXPECT_LE(line.size(), kColumns) << line;
}

TEST(Console, TheVerdictComesFirst) {
  const auto first_word = [](int exit_code) {
    const std::string text = console_report(full_result(), exit_code);
    return text.substr(0, text.find("  "));
  };
  EXPECT_EQ(first_word(0), "PASS");
  EXPECT_EQ(first_word(1), "FAIL");
  EXPECT_EQ(first_word(4), "FAIL (counters only)");
  EXPECT_EQ(first_word(5), "FAIL");
  EXPECT_EQ(first_word(6), "INCONCLUSIVE");
  EXPECT_EQ(first_word(77), "NOTHING RAN");
}

TEST(Console, WhatIsWrongIsPainted) {
  const Paint paint = [](Tone tone, const std::string& text) {
    return tone == Tone::kBad ? "<bad>" + text + "</bad>" : text;
  };
  const std::string text = console_report(result_of({case_of(Status::kPass), failed(false)}), 1, paint);
  EXPECT_THAT(text, StartsWith("<bad>FAIL</bad>  2 cases: 1 passed, 1 FAILED"));
  EXPECT_THAT(text, HasSubstr("2      <bad>1</bad>    -"));
  EXPECT_EQ(console_report(full_result(), 1).find("<bad>"), std::string::npos);
}

TEST(Text, LinesAreBrokenAtSpaces) {
  EXPECT_EQ(wrapped("a bb ccc dddd", 2, 0, 6), "a bb\n  ccc\n  dddd");
  EXPECT_EQ(wrapped("a bb", 2, 3, 6), "a\n  bb");
  EXPECT_EQ(wrapped("a muchtoolong b", 1, 0, 6), "a\n muchtoolong\n b");
  EXPECT_EQ(wrapped("", 1), "");
}

TEST(Text, FiguresFitAColumn) {
  for (const auto& [value, text] : std::map<double, std::string>{
           {0, "0"}, {6.8e-5, "<0.001"}, {0.99812, "0.998"}, {25.894, "25.89"}, {506.61, "506.6"},
           {12345.6, "1e+04"}, {3.4e120, "3e+120"}, {kInfinity, "inf"}})
    EXPECT_EQ(short_figure(value), text);
  EXPECT_EQ(short_figure(kNan), "nan");
}

TEST(Console, AFailureThatDoesNotRepeatIsCalledSo) {
  EXPECT_EQ(failed_again(5, 5), "fails in 5 of 5 further runs");
  EXPECT_EQ(failed_again(1, 5), "fails in 1 of 5 further runs: not the same every time");
}

TEST(Text, WhatWouldExplainAFailureComesFirst) {
  CaseResult test = failed(false);
  test.findings = {"fails in 5 of 5 further runs"};
  test.explained = {"o: zero"};
  EXPECT_THAT(findings_of(test), ElementsAre("o: zero", "fails in 5 of 5 further runs", "counters: 3 messages, want 2"));
}

// More than are written in full are counted by their cause, the most frequent first.
TEST(Console, ManyFailuresAreCountedByWhatWouldExplainThem) {
  std::vector<CaseResult> cases(15, failed(false));
  for (CaseResult& test : cases) test.explained = {"o and lse: as if there were no mask", "dq: zero"};
  for (int i = 0; i < 4; ++i) {
    cases.push_back(case_of(Status::kCrash));
    cases.back().reason = "rank 1 threw: no room";
  }
  EXPECT_THAT(console_report(result_of(cases), 1), Not(HasSubstr("would explain them")));
  cases.push_back(failed(false));
  cases.push_back(case_of(Status::kPass));
  cases.push_back(failed(false));
  EXPECT_THAT(console_report(result_of(cases), 1),
              HasSubstr("These 21 by what would explain them, else by why:\n"
                        "     15  as if there were no mask\n"
                        "      4  crash: rank 1 threw: no room\n"
                        "      2  fail: rejected by counters\n"));
}

TEST(Console, EveryFailureComesWithItsCommand) {
  const std::string text = console_report(full_result(), 5);
  EXPECT_THAT(text, HasSubstr("reproduce: ringcheck verify --case 'ring:p2p/headtail/...'"));
  EXPECT_THAT(text, HasSubstr("3 messages, want 2"));
  EXPECT_THAT(text, HasSubstr("HANG"));
}

}  // namespace
}  // namespace ringcheck::reports
