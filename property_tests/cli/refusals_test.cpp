// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels refuse of the profile conformance is what reports/refusals says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kLists = RINGCHECK_SOURCE_DIR "/reports/refusals";

class RefusalsTest : public ::testing::Test {
 protected:
  // Against the committed list of the CPU, changed.
  Ran against(const std::function<void(json&)>& change) const {
    json list = json::parse(read_text(std::string(kLists) + "/cpu.json"));
    change(list);
    const Folder folder;
    write_text(folder.file("cpu.json"), list.dump());
    return ringcheck({"refusals", "--against", folder.file("")});
  }
};

TEST_F(RefusalsTest, AreThoseOfTheCommittedList) {
  const Ran ran = ringcheck({"refusals", "--against", kLists});
  EXPECT_EQ(ran.code, 0) << ran.err << "if this is meant: ringcheck refusals --json " << kLists
                         << "/cpu.json";
}

TEST_F(RefusalsTest, OneMoreThanListedFails) {
  const Ran ran = against([](json& list) {
    auto& count = list["kernels"]["flash"].front();
    count = count.get<int>() - 1;
  });
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("kernel flash refuses"));
}

TEST_F(RefusalsTest, AReasonThatIsNotListedFails) {
  const Ran ran = against([](json& list) { list["kernels"]["flash"] = json::object(); });
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("listed 0: kernel flash needs"));
}

TEST_F(RefusalsTest, OneThatIsRefusedNoLongerFails) {
  const Ran ran = against([](json& list) { list["kernels"]["plain"]["too deep"] = 3; });
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("kernel plain refuses 0 cases, listed 3: too deep"));
}

TEST_F(RefusalsTest, AnotherProfileOrKernelFails) {
  const Ran ran = against([](json& list) {
    list["cases"] = 1;
    list["kernels"].erase("plain");
    list["kernels"]["gone"] = json::object();
  });
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("the list is of 1 case"));
  EXPECT_THAT(ran.err, HasSubstr("kernel plain is not in the list"));
  EXPECT_THAT(ran.err, HasSubstr("kernel gone is not there any more"));
}

TEST_F(RefusalsTest, WithoutAListItIsAUsageError) {
  const Folder folder;
  const Ran ran = ringcheck({"refusals", "--against", folder.file("")});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("there is no list"));
  write_text(folder.file("cpu.json"), "{}");
  EXPECT_EQ(ringcheck({"refusals", "--against", folder.file("")}).code, 2);
}

TEST_F(RefusalsTest, WhatIsNoListOfThisDeviceIsAUsageError) {
  const struct {
    std::function<void(json&)> change;
    const char* says;
  } table[] = {{[](json& list) { list["device"] = "sm_90"; }, "of device 'sm_90', not 'cpu'"},
               {[](json& list) { list["cases"] = -1; }, "cases is -1; want a count"},
               {[](json& list) { list["cases"] = 3.5; }, "cases is 3.5; want a count"},
               {[](json& list) { list["kernels"]["flash"].front() = -2; }, " is -2; want a count"},
               {[](json& list) { list["kernels"]["flash"].front() = 1.5; }, " is 1.5; want a count"},
               {[](json& list) { list["kernels"]["flash"] = 7; }, "no list of refusals"},
               {[](json& list) { list["kernels"] = json::array(); }, "no list of refusals"}};
  for (const auto& [change, says] : table) {
    const Ran ran = against(change);
    EXPECT_EQ(ran.code, 2) << says;
    EXPECT_THAT(ran.err, HasSubstr(says));
  }
}

TEST_F(RefusalsTest, AWrittenListIsItsOwn) {
  const Folder folder;
  EXPECT_EQ(ringcheck({"refusals", "--profile", "smoke", "--json", folder.file("cpu.json")}).code,
            0);
  EXPECT_EQ(ringcheck({"refusals", "--profile", "smoke", "--against", folder.file("")}).code, 0);
}

}  // namespace
}  // namespace ringcheck::testing
