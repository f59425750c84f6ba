// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What the schema of results says of every kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "property_tests/cli/program.h"
#include "property_tests/reports/full_result.h"
#include "property_tests/reports/json_schema.h"
#include "reports/envelope.h"

namespace ringcheck::reports {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using testing::read_text;

nlohmann::json schema() {
  return nlohmann::json::parse(read_text(RINGCHECK_SOURCE_DIR "/reports/result.schema.json"));
}

TEST(Result, JsonObeysItsSchema) {
  EXPECT_THAT(testing::schema_violations(schema(), to_json(full_result())), IsEmpty());
  nlohmann::json wrong = to_json(full_result());
  wrong["cases"][0]["verdict"] = "perfect";
  wrong["summary"].erase("hang");
  wrong["cases"][0]["ranks"][0]["forward"]["bytes_sent"] = -1;
  EXPECT_THAT(
      testing::schema_violations(schema(), wrong),
      UnorderedElementsAre(
          StartsWith("/cases/0/verdict: 'perfect' is not one of"),
          "/summary: 'hang' is a required property",
          "/cases/0/ranks/0/forward/bytes_sent: -1 is less than the minimum of 0"));
}

// A keyword that is misspelt, or a member that nobody describes, would let null pass.
TEST(Result, TheSchemaSpeaksOfEveryValue) {
  const nlohmann::json good = to_json(full_result()), values = good.flatten();
  nlohmann::json wrong = good;
  for (const auto& [path, value] : values.items())
    wrong[nlohmann::json::json_pointer(path)] = nullptr;
  const auto violations = testing::schema_violations(schema(), wrong);
  for (const auto& [path, value] : values.items())
    EXPECT_THAT(violations, Contains(StartsWith(path + ": "))) << path;
}

TEST(Result, WhatIsNoSchemaIsRefused) {
  EXPECT_THROW(testing::schema_violations({{"type", "number of ranks"}}, 1), std::runtime_error);
}

// What each kind must have, and that no other will do.
TEST(Result, AKindHasItsOwnMember) {
  const auto violations = [](const nlohmann::json& file) {
    return testing::schema_violations(schema(), file).size();
  };
  nlohmann::json bench = to_json(full_result());
  bench["kind"] = "bench";
  EXPECT_GT(violations(bench), 0U);
  bench["bench"] = {{"errors", nlohmann::json::array()}};
  EXPECT_EQ(violations(bench), 0U);
  for (const char* kind :
       {"verify", "faults", "sensitivity", "guard", "doctor", "bench", "scaling", "search",
        "compare", "plan"}) {
    EXPECT_EQ(to_text(parse_kind(kind)), kind);
    EXPECT_GT(violations(envelope(parse_kind(kind), full_result().environment)), 0U) << kind;
  }
  nlohmann::json unknown = to_json(full_result());
  unknown["kind"] = "rumour";
  EXPECT_GT(violations(unknown), 0U);
  EXPECT_THROW(result_from_json(unknown), std::invalid_argument);
}

TEST(Result, TheOwnMemberOfAnotherKindIsRefused) {
  const Environment here = full_result().environment;
  const nlohmann::json file = envelope(Kind::kGuard, here, {{"verdict", "pass"}});
  EXPECT_EQ(own_member(file, Kind::kGuard)["verdict"], "pass");
  EXPECT_EQ(to_json(environment_from_json(file["environment"])), to_json(here));
  EXPECT_THROW(own_member(file, Kind::kDoctor), std::invalid_argument);
  EXPECT_THROW(own_member(envelope(Kind::kGuard, here), Kind::kGuard), std::invalid_argument);
  nlohmann::json later = file;
  later["schema_version"] = kSchemaVersion + 1;
  EXPECT_THROW(own_member(later, Kind::kGuard), std::invalid_argument);
}

}  // namespace
}  // namespace ringcheck::reports
