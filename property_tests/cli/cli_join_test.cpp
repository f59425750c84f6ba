// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// `ringcheck report join` as it is typed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kScaling = RINGCHECK_SOURCE_DIR "/reports/results/h200_gpu4_scaling_threads.json";
const std::string kSmoke = RINGCHECK_SOURCE_DIR "/reports/results/cpu_smoke.json";

TEST(Join, RefusesTheSameRunTwiceAndAnotherKind) {
  const Folder folder;
  const std::string all = folder.file("all.json");
  const Ran ran = ringcheck({"report", "join", "-o", all, kScaling, kScaling});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("is the same run as"));
  EXPECT_THAT(ringcheck({"report", "join", "-o", all, kScaling, kSmoke}).err, HasSubstr("of kind verify"));
  EXPECT_FALSE(std::filesystem::exists(all));
}

TEST(Join, PutsRunsOfDifferentCasesBesideEachOther) {
  const Folder folder;
  const json smoke = json::parse(read_text(kSmoke));
  const auto cases = smoke["cases"].get<json::array_t>();
  const auto part = [&](const char* name, size_t begin, size_t end) {
    json result = smoke;
    result["cases"] = json::array_t(cases.begin() + static_cast<int64_t>(begin), cases.begin() + static_cast<int64_t>(end));
    for (const char* count : {"cases", "passed"}) result["summary"][count] = end - begin;
    write_text(folder.file(name), result.dump());
    return folder.file(name);
  };
  const std::string all = folder.file("all.json");
  const Ran ran = ringcheck({"report", "join", "-o", all, part("a.json", 0, 100), part("b.json", 100, cases.size())});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const json joined = json::parse(read_text(all));
  EXPECT_EQ(joined["cases"], smoke["cases"]);
  EXPECT_EQ(joined["summary"], smoke["summary"]);
}

}  // namespace
}  // namespace ringcheck::testing
