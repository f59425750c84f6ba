// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Calibrate : public ::testing::Test {
 protected:
  std::string file() const { return folder_.path() + "/some.contract.json"; }
  Ran calibrate(const std::string& path, const std::string& kernel = "plain") const {
    return ringcheck({"calibrate", "--kernel", kernel, "--seeds", "20", "--contract", path});
  }
  // That it is bad input, says so, and nothing was done.
  void expect_refused(const std::string& path, const std::string& why) const {
    const Ran ran = calibrate(path);
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(path));
    EXPECT_THAT(ran.err, HasSubstr(why));
    EXPECT_THAT(ran.err, Not(HasSubstr("calibrating")));
  }

 private:
  Folder folder_;
};

TEST_F(Calibrate, OverwritesNothingButItsContract) {
  for (const char* text : {"notes of mine\n", "{\"kernel\": \"plain\"}", "[]", "{}"}) {
    write_text(file(), text);
    expect_refused(file(), "is no numerics contract");
    EXPECT_EQ(read_text(file()), text);
  }
  write_text(file(), read_text(RINGCHECK_SOURCE_DIR "/kernels/flash.contract.json"));
  expect_refused(file(), "is the contract of kernel 'flash'");
}

TEST_F(Calibrate, RefusesWhatItCannotWriteBeforeItWorks) {
  expect_refused("/nowhere/some.contract.json", "cannot write");
  expect_refused("/tmp", "it is a folder");
}

TEST_F(Calibrate, AFewSeedsAreRefused) {
  const Ran ran = ringcheck({"calibrate", "--seeds", "19", "--contract", file()});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--seeds: got '19'; want a whole number from 20 to 100000"));
}

// Here: every constant that stands is kept, or stricter, and every chart is there again.
TEST_F(Calibrate, WritesAContractThatIsNoLooser) {
  const json before = json::parse(read_text(RINGCHECK_SOURCE_DIR "/kernels/plain.contract.json"));
  write_text(file(), before.dump());
  const Ran ran = calibrate(file());
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json after = json::parse(read_text(file()));
  for (const auto& [dtype, constants] : before.at("dtypes").items()) {
    const json& now = after.at("dtypes").at(dtype);
    EXPECT_LE(now.at("c_e"), constants.at("c_e")) << dtype;
    EXPECT_GE(now.at("kappa"), constants.at("kappa")) << dtype;
    const json& measured = after.at("measured").at("cpu").at(dtype);
    EXPECT_LE(measured.at("c_e"), now.at("c_e")) << dtype;
    EXPECT_GE(measured.at("kappa"), 1) << dtype;
  }
  EXPECT_EQ(after.at("charts").size(), before.at("charts").size());
}

}  // namespace
}  // namespace ringcheck::testing
