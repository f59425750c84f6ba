// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/regressions.h"

#include <map>
#include <sstream>

#include "regression_texts.h"

namespace ringcheck::parity {

Regression parse_regression(const std::string& line) {
  const std::string mark = "large ";
  Regression entry;
  entry.large = line.starts_with(mark);
  const std::string rest = entry.large ? line.substr(mark.size()) : line;
  const size_t space = rest.find(' '), colon = rest.find(": ");
  if (space == std::string::npos || colon == std::string::npos || colon < space)
    throw BadCase("regression '" + line + "': want CASE WHERE: WHY");
  entry.text = rest.substr(0, space);
  entry.issue = rest.substr(space + 1, colon - space - 1);
  entry.what = rest.substr(colon + 2);
  parse_case(entry.text);
  return entry;
}

const std::vector<Regression>& regressions() {
  static const auto table = [] {
    std::vector<Regression> entries;
    std::istringstream lines(regression_texts().at("regressions.txt"));
    for (std::string line; std::getline(lines, line);)
      if (!line.empty() && !line.starts_with('#'))
        entries.push_back(parse_regression(line));
    return entries;
  }();
  return table;
}

std::optional<std::string> upstream_issue(const Case& test) {
  static const auto issues = [] {
    std::map<std::string, std::string> by_text;
    for (const Regression& entry : regressions())
      by_text.emplace(to_text(parse_case(entry.text)), entry.issue);
    return by_text;
  }();
  const auto found = issues.find(to_text(test));
  if (found == issues.end())
    return std::nullopt;
  return found->second;
}

}  // namespace ringcheck::parity
