// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/property.h"

#include <gtest/gtest.h>
#include <rapidcheck/detail/Configuration.h>

#include <cstdlib>
#include <iostream>

namespace ringcheck {

using rc::detail::SuccessResult;

void check_property(const rc::detail::Property& property) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::string suite = test->test_suite_name(), name = test->name();
  const auto result = rc::detail::checkProperty(property, {suite + "/" + name, name});
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  if (!result.template is<SuccessResult>())
    FAIL() << text.str();
  const auto& success = result.template get<SuccessResult>();
  if (!success.distribution.empty())
    std::cout << text.str() << std::endl;
  const auto& configuration = rc::detail::configuration();
  if (success.numSuccess == 0 && !configuration.reproduce.empty())
    GTEST_SKIP() << "not the one to reproduce";
  if (success.numSuccess == 0 || success.numSuccess < configuration.testParams.maxSuccess)
    FAIL() << "ran " << success.numSuccess << " cases of " << configuration.testParams.maxSuccess
           << ": nothing is shown";
}

std::optional<std::string> why_not_gating() {
  const char* text = std::getenv("RC_PARAMS");
  if (text == nullptr)
    return std::nullopt;
  rc::detail::Configuration configuration;
  try {
    configuration = rc::detail::configFromString(text);
  } catch (const rc::detail::ConfigurationException& error) {
    return "RC_PARAMS='" + std::string(text) + "' is not understood: " + error.what();
  }
  if (!configuration.reproduce.empty())
    return "RC_PARAMS has reproduce=..., which runs one case of one property: nothing passes by "
           "it; unset it, or give --reproduce to look at that case (the exit code is then never 0)";
  if (configuration.testParams.maxSuccess < 1)
    return "RC_PARAMS has max_success=" + std::to_string(configuration.testParams.maxSuccess) +
           ", under which no case runs; it must be at least 1";
  return std::nullopt;
}

}  // namespace ringcheck
