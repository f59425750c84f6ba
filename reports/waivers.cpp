// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/waivers.h"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>

#include "reports/failures.h"
#include "reports/text.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

// fnmatch, with nothing but * that is not itself: names of cases have brackets.
bool matches(const std::string& pattern, const std::string& text) {
  std::string plain;
  for (const char c : pattern) {
    if (c == '?' || c == '[' || c == ']' || c == '\\') plain += '\\';
    plain += c;
  }
  return ::fnmatch(plain.c_str(), text.c_str(), 0) == 0;
}

// Of the calendar, as 2027-01-31.
bool is_day(const std::string& text) {
  static const std::regex form("([0-9]{4})-([0-9]{2})-([0-9]{2})");
  std::smatch part;
  if (!std::regex_match(text, part, form)) return false;
  const auto number = [&](int which) { return static_cast<unsigned>(std::stoi(part[which])); };
  return std::chrono::year_month_day(std::chrono::year(std::stoi(part[1])), std::chrono::month(number(2)),
                                     std::chrono::day(number(3))).ok();
}

// It is printed, and must be nothing that a terminal obeys.
bool has_control(const std::string& text) {
  for (size_t at = 0; at < text.size(); at += std::max<size_t>(1, utf8_length(text, at)))
    if (is_control(text, at)) return true;
  return false;
}

Waiver parse(const json& entry, size_t number) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument("waiver " + std::to_string(number) + ": " + why + "; it is " + entry.dump());
  };
  static const std::set<std::string> kMembers{"case", "finding", "reason", "until"};
  if (!entry.is_object()) refuse("it must be an object of case, finding, reason and until");
  for (const std::string& name : kMembers)
    if (!entry.contains(name) || !entry[name].is_string() || entry[name].get<std::string>().empty())
      refuse("its " + name + " must be a text that is not empty");
  for (const auto& [name, value] : entry.items()) {
    if (!kMembers.contains(name)) refuse("it must have no member but case, finding, reason and until");
    if (has_control(value)) refuse("its " + name + " must have no control characters");
  }
  if (!is_day(entry["until"])) refuse("its until must be a day such as 2027-01-31");
  return {entry["case"], entry["finding"], entry["reason"], entry["until"]};
}

std::string words(const Waiver& waiver) {
  return "'" + waiver.finding + "' of '" + waiver.test + "' (" + waiver.reason + ")";
}

}  // namespace

bool is_of_one_run(const std::string& finding) {
  return finding.substr(0, finding.find(':')).find(' ') == std::string::npos;
}

Waivers::Waivers(const json& file, std::string today) : today_(std::move(today)) {
  if (!file.is_object() || file.size() != 1 || !file.contains("waivers") || !file["waivers"].is_array())
    throw std::invalid_argument("want {\"waivers\": [...]} and nothing else");
  for (const json& entry : file["waivers"]) waivers_.push_back(parse(entry, waivers_.size() + 1));
}

std::string Waivers::reason(const std::string& test, const std::string& finding) const {
  for (const Waiver& waiver : waivers_)
    if (today_ <= waiver.until && matches(waiver.test, test) && matches(waiver.finding, finding))
      return waiver.reason;
  return "";
}

std::vector<std::string> Waivers::stale(const std::vector<Finding>& found,
                                        const std::set<std::string>& judged) const {
  std::vector<std::string> lines;
  for (const Waiver& waiver : waivers_) {
    const bool fails = std::any_of(found.begin(), found.end(), [&](const Finding& one) {
      return matches(waiver.test, one.test) && matches(waiver.finding, one.finding);
    });
    const bool about = std::any_of(judged.begin(), judged.end(), [&](const std::string& test) {
      return matches(waiver.test, test);
    });
    if (fails && today_ > waiver.until)
      lines.push_back("the waiver of " + words(waiver) + " expired on " + waiver.until);
    if (!fails && about)
      lines.push_back("the waiver of " + words(waiver) + " is of what passes: take it away");
  }
  return lines;
}

std::vector<std::string> Waivers::idle(const std::vector<CaseResult>& cases) const {
  std::vector<std::string> lines;
  for (const Waiver& waiver : waivers_)
    if (std::none_of(cases.begin(), cases.end(),
                     [&](const CaseResult& test) { return matches(waiver.test, test.name); }))
      lines.push_back("the waiver of " + words(waiver) + " is of no case that ran");
  return lines;
}

Waivers Waivers::of_one_run() const {
  Waivers some = *this;
  std::erase_if(some.waivers_, [](const Waiver& waiver) { return !is_of_one_run(waiver.finding); });
  return some;
}

std::string to_text(const Waived::Finding& borne) {
  return borne.test + ": " + borne.finding + ": " + borne.reason;
}

Waived waive(const Waivers& waivers, std::vector<CaseResult>& cases) {
  Waived waived{.cases = {}, .stale = {}, .idle = waivers.idle(cases)};
  std::vector<Waivers::Finding> found;
  std::set<std::string> judged;
  std::erase_if(cases, [&](const CaseResult& test) {
    if (was_judged(test.verdict)) judged.insert(test.name);
    std::vector<Waived::Finding> borne;
    const auto failures = failures_of(test);
    for (const auto& [finding, contract] : failures) {
      found.push_back({test.name, finding});
      if (const std::string reason = waivers.reason(test.name, finding); !reason.empty())
        borne.push_back({test.name, finding, reason});
    }
    const bool all = !failures.empty() && borne.size() == failures.size();
    if (all) waived.cases.insert(waived.cases.end(), borne.begin(), borne.end());
    return all;
  });
  waived.stale = waivers.of_one_run().stale(found, judged);
  return waived;
}

}  // namespace ringcheck::reports
