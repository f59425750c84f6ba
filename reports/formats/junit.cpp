// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/junit.h"

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

// NaN, too, is no time.
std::string seconds(double value) { return fixed(value > 0 ? value : 0, 3); }

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
  std::string text = "    <properties>\n";
  for (const auto& [name, value] : test.parts)
    text += "      <property" + attribute("name", name) + attribute("value", value) + "/>\n";
  return text + "      <property" + attribute("name", "reproduce") + attribute("value", test.reproduce) +
         "/>\n    </properties>\n";
}

// The element of a test case that did not pass.
struct Told {
  std::string element, type, message, body;
  std::string text() const {
    if (element.empty()) return "";
    return "      <" + element + attribute("type", type) + attribute("message", message) + ">" +
           xml_escaped(body) + "</" + element + ">\n";
  }
};

// A failure that is borne is skipped, for the reason of its waiver.
Told told(const CaseResult& test, const Waived& waived) {
  const char* element = element_of(test.verdict);
  if (element == nullptr) return {};
  Told told{element, to_text(test.verdict), headline(test), {}};
  std::string reasons;
  for (const Waived::Finding& borne : waived.cases)
    if (borne.test == test.name)
      reasons += (reasons.empty() ? "" : "; ") + borne.finding + ": " + borne.reason;
  if (!reasons.empty()) told = {"skipped", "waived", reasons, {}};
  for (const std::string& finding : findings_of(test)) told.body += finding + "\n";
  told.body += "reproduce: " + test.reproduce;
  return told;
}

// What a dead worker wrote, all its ranks: the end.
std::string stderr_of(const CaseResult& test) {
  if (test.log.empty()) return "";
  const size_t from = test.log.size() > kLogTail ? test.log.size() - kLogTail : 0;
  return "      <system-err>" + xml_escaped(test.log.substr(from)) + "</system-err>\n";
}

std::string test_case(const std::string& name, const std::string& group, double took, const std::string& inner) {
  return "    <testcase" + attribute("name", name) + attribute("classname", "ringcheck." + group) +
         attribute("time", seconds(took)) + ">\n" + inner + "    </testcase>\n";
}

struct Counts {
  int64_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double seconds = 0;
  void add(const std::string& element, double took) {
    ++tests;
    failures += element == "failure";
    errors += element == "error";
    skipped += element == "skipped";
    if (took > 0) seconds += took;
  }
  std::string attributes() const {
    return attribute("tests", tests) + attribute("failures", failures) +
           attribute("errors", errors) + attribute("time", reports::seconds(seconds));
  }
};

// Of one case: the schema has properties of a suite, and none of a test case.
std::string suite(const std::string& name, const std::string& group, const Environment& environment,
                  const Counts& counts, const std::string& inner) {
  return "  <testsuite" + attribute("name", name) + attribute("package", "ringcheck." + group) +
         attribute("hostname", environment.host) + attribute("timestamp", environment.started) +
         counts.attributes() + attribute("skipped", counts.skipped) + ">\n" + inner + "  </testsuite>\n";
}

// Waivers that do not hold, a failure each.
std::string stale_suite(const Waived& waived, const Environment& environment, Counts& all) {
  Counts counts;
  std::string tests;
  for (const std::string& line : waived.stale) {
    for (Counts* sum : {&counts, &all}) sum->add("failure", 0);
    tests += test_case(line, "waivers", 0, Told{"failure", "waiver", line, {}}.text());
  }
  return counts.tests == 0 ? "" : suite("waivers", "waivers", environment, counts, tests);
}

}  // namespace

std::string junit(const Result& result, const Waived& waived) {
  Counts all;
  std::string suites;
  for (const CaseResult& test : result.cases) {
    const Told how = told(test, waived);
    Counts one;
    for (Counts* sum : {&one, &all}) sum->add(how.element, test.seconds);
    suites += suite(test.name, test.group, result.environment, one,
                    properties(test) + test_case(test.name, test.group, test.seconds, how.text() + stderr_of(test)));
  }
  suites += stale_suite(waived, result.environment, all);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + attribute("name", "ringcheck") +
         all.attributes() + ">\n" + suites + "</testsuites>\n";
}

}  // namespace ringcheck::reports
