// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "reports/compare/comparison.h"
#include "reports/compare/words.h"
#include "reports/formats/markdown_words.h"
#include "reports/text.h"

namespace ringcheck::reports {
namespace {

constexpr size_t kShown = 50;  // rows of a table: a job summary holds 1 MiB

std::string changes_table(const std::vector<Change>& changes) {
  if (changes.empty()) return "";
  std::string text = "\n| | what | case | reproduce |\n|---|---|---|---|\n";
  for (size_t i = 0; i < std::min(changes.size(), kShown); ++i) {
    const Change& change = changes[i];
    text += "| " + to_text(change.kind) + " | " + cell(line_of(change)) + " | " + code(change.where) + " | " +
            (change.reproduce.empty() ? "" : code(change.reproduce)) + " |\n";
  }
  if (changes.size() > kShown)
    text += "\nand " + std::to_string(changes.size() - kShown) + " more\n";
  return text;
}

std::string speed_table(const Comparison& comparison) {
  const std::vector<Speed>& series = comparison.speeds.series;
  if (series.empty()) return "";
  std::string text = "\n| series | unit | base | new | slowdown | interval | shows | verdict | how |\n"
                     "|---|---|--:|--:|--:|--:|--:|---|---|\n";
  const std::vector<std::string> labels = labels_of(series);
  for (size_t i = 0; i < std::min(series.size(), kShown); ++i) {
    const Speed& speed = series[i];
    text += "| " + code(labels[i]) + " | " + cell(speed.unit) + " | " + figure(speed.base_median) + " | " +
            figure(speed.new_median) + " | " +
            (speed.slowdown ? percent(speed.slowdown->estimate) : "-") + " | " + interval_text(speed) +
            " | " + smallest_text(speed) + " | " + to_text(speed.verdict) + " | " + cell(speed.how) + " |\n";
  }
  if (series.size() > kShown) text += "\nand " + std::to_string(series.size() - kShown) + " more\n";
  const std::string rule = rule_text(comparison);
  return text + (rule.empty() ? "" : "\n" + rule + ".\n");
}

}  // namespace

std::string markdown_text(const Comparison& comparison) {
  std::string text = "## " + headline(comparison) + "\n\n";
  for (const std::string& line : lines_of(comparison.base)) text += "- base: " + cell(line) + "\n";
  for (const std::string& line : lines_of(comparison.new_)) text += "- new: " + cell(line) + "\n";
  return text + changes_table(comparison.changes()) + speed_table(comparison);
}

}  // namespace ringcheck::reports
