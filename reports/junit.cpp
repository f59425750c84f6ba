// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/junit.h"

#include <cstdio>
#include <map>
#include <vector>

#include "reports/text.h"

namespace ringcheck::reports {
namespace {

constexpr size_t kLogTail = 4000;

std::string attribute(const char* name, const std::string& value) {
  return " " + std::string(name) + "=\"" + xml_escaped(value) + "\"";
}

std::string attribute(const char* name, int64_t value) {
  return attribute(name, std::to_string(value));
}

std::string seconds(double value) { return fixed(value < 0 ? 0 : value, 3); }

const char* element_of(Status verdict) {
  switch (verdict) {
    case Status::kPass:
      return nullptr;
    case Status::kFail:
      return "failure";
    case Status::kNotSupported:
    case Status::kSkipped:
      return "skipped";
    default:
      return "error";
  }
}

std::string properties(const CaseResult& test) {
  std::string text = "      <properties>\n";
  for (const auto& [name, value] : test.parts)
    text += "        <property" + attribute("name", name) + attribute("value", value) + "/>\n";
  text += "        <property" + attribute("name", "reproduce") +
          attribute("value", test.reproduce) + "/>\n";
  return text + "      </properties>\n";
}

std::string test_case(const CaseResult& test, const std::string& suite) {
  std::string text = "    <testcase" + attribute("name", test.name) +
                     attribute("classname", "ringcheck." + suite) +
                     attribute("time", seconds(test.seconds)) + ">\n" + properties(test);
  if (const char* element = element_of(test.verdict)) {
    std::string body;
    for (const std::string& finding : findings_of(test))
      body += finding + "\n";
    body += "reproduce: " + test.reproduce;
    text += "      <" + std::string(element) + attribute("message", headline(test)) +
            (test.verdict == Status::kSkipped || test.verdict == Status::kNotSupported
                 ? ""
                 : attribute("type", to_text(test.verdict))) +
            ">" + xml_escaped(body) + "</" + element + ">\n";
  }
  if (!test.log.empty()) {
    const size_t from = test.log.size() > kLogTail ? test.log.size() - kLogTail : 0;
    text += "      <system-out>" + xml_escaped(test.log.substr(from)) + "</system-out>\n";
  }
  return text + "    </testcase>\n";
}

struct Counts {
  int64_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double seconds = 0;
  void add(const CaseResult& test) {
    const char* element = element_of(test.verdict);
    const std::string kind = element == nullptr ? "" : element;
    ++tests;
    failures += kind == "failure";
    errors += kind == "error";
    skipped += kind == "skipped";
    seconds += test.seconds;
  }
  std::string attributes() const {
    return attribute("tests", tests) + attribute("failures", failures) +
           attribute("errors", errors) + attribute("skipped", skipped) +
           attribute("time", reports::seconds(seconds));
  }
};

}  // namespace

std::string junit(const Result& result) {
  std::map<std::string, std::vector<const CaseResult*>> suites;
  Counts all;
  for (const CaseResult& test : result.cases) {
    suites[test.group].push_back(&test);
    all.add(test);
  }
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" +
                     attribute("name", "ringcheck") + all.attributes() + ">\n";
  for (const auto& [name, cases] : suites) {
    Counts counts;
    std::string body;
    for (const CaseResult* test : cases) {
      counts.add(*test);
      body += test_case(*test, name);
    }
    text += "  <testsuite" + attribute("name", name) +
            attribute("hostname", result.environment.host) +
            attribute("timestamp", result.environment.started) + counts.attributes() + ">\n" +
            body + "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

}  // namespace ringcheck::reports
