// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/compare/words.h"

#include <set>

#include "reports/text.h"

namespace ringcheck::reports {

std::vector<std::string> lines_of(const Side& side) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < side.runs.size(); ++i) {
    const Environment& environment = side.runs[i].environment;
    lines.push_back(side.names[i] + ", commit " + environment.commit.substr(0, 12) + ", " + environment.started);
  }
  return lines;
}

std::string line_of(const Change& change) {
  const bool values = !change.base.empty() || !change.new_.empty();
  return visible(change.what + (values ? " " + change.base + " -> " + change.new_ : "") +
                 (change.waived.empty() ? "" : " (waived: " + change.waived + ")"));
}

std::vector<std::string> labels_of(const std::vector<Speed>& series) {
  std::map<std::string, std::set<std::string>> values;
  for (const Speed& speed : series)
    for (const auto& [name, value] : speed.parts) values[name].insert(value);
  for (auto& [name, found] : values)
    for (const Speed& speed : series)
      if (!speed.parts.contains(name)) found.insert("");
  std::vector<std::string> labels;
  for (const Speed& speed : series) {
    std::string label = speed.name;
    for (const auto& [name, value] : speed.parts)
      if (values[name].size() > 1) label += " " + name + "=" + value;
    labels.push_back(label);
  }
  return labels;
}

std::string percent(double ratio) {
  const double value = (ratio - 1) * 100;
  return (value < 0 ? "" : "+") + fixed(value, 1) + " %";
}

std::string interval_text(const Speed& speed) {
  if (!speed.slowdown) return "-";
  const std::string low = percent(speed.slowdown->low);
  return low.substr(0, low.size() - 2) + " ... " + percent(speed.slowdown->high);
}

std::string smallest_text(const Speed& speed) {
  return speed.smallest ? percent(*speed.smallest) : "-";
}

std::string rule_text(const Comparison& comparison) {
  if (comparison.speeds.tests == 0) return "";
  const SpeedQuestion& question = comparison.question;
  return "slowdowns with " + fixed((1 - question.alpha) * 100, 0) + " % confidence in all " +
         std::to_string(comparison.speeds.tests) + " intervals together (Bonferroni); slower: all of the interval is above " +
         percent(1 + question.margin) + "; shows: the smallest slowdown found in " +
         fixed(question.power * 100, 0) + " % of such comparisons";
}

}  // namespace ringcheck::reports
