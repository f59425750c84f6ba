// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "reports/compare/comparison.h"
#include "reports/compare/words.h"
#include "reports/text.h"

namespace ringcheck::reports {
namespace {

constexpr size_t kShown = 20;  // changes of a kind

// Changes of one kind, those of a case below its name.
std::string list(const std::vector<Change>& changes, ChangeKind kind) {
  std::string text, where;
  size_t count = 0;
  for (const Change& change : changes) {
    if (change.kind != kind || ++count > kShown) continue;
    if (change.where != where) text += "  " + visible(change.where) + "\n";
    where = change.where;
    text += "    " + line_of(change) + "\n";
    if (is_worse(kind) && !change.reproduce.empty() && kind != ChangeKind::kCounter)
      text += "    reproduce: " + visible(change.reproduce) + "\n";
  }
  if (count == 0) return "";
  if (count > kShown) text += "  and " + std::to_string(count - kShown) + " more\n";
  return "\n" + to_text(kind) + ": " + std::to_string(count) + "\n" + text;
}

std::string row(const std::string& label, const std::vector<std::string>& columns) {
  constexpr size_t kWidths[] = {10, 10, 9, 20, 9};
  std::string text = "  " + left(label, 26);
  for (size_t i = 0; i < columns.size() - 1; ++i) text += " " + right(columns[i], kWidths[i]);
  return text + "  " + columns.back() + "\n";
}

// Names of series are long: they have a line of their own.
std::string speed_table(const Comparison& comparison) {
  const std::vector<Speed>& series = comparison.speeds.series;
  if (series.empty()) return "";
  std::string text =
      "\n" + row("", {"base", "new", "slowdown", "interval", "shows", "verdict"});
  const std::vector<std::string> labels = labels_of(series);
  for (size_t i = 0; i < series.size(); ++i) {
    const Speed& speed = series[i];
    const std::string unit = speed.unit.empty() ? "" : " (" + speed.unit + ")";
    const bool reason = speed.verdict == SpeedVerdict::kInconclusive;
    text += "  " + labels[i] + unit + "\n" +
            row("", {figure(speed.base_median), figure(speed.new_median),
                     speed.slowdown ? percent(speed.slowdown->estimate) : "-", interval_text(speed),
                     smallest_text(speed), to_text(speed.verdict) + (reason ? ": " + speed.how : "")});
  }
  return text + "  " + rule_text(comparison) + "\n";
}

// Series that came out one way or the other.
int64_t decided(const Speeds& speeds) {
  return std::ranges::count_if(speeds.series, [](const Speed& one) {
    return one.verdict != SpeedVerdict::kInconclusive && one.verdict != SpeedVerdict::kNoRatio;
  });
}

}  // namespace

std::string console_text(const Comparison& comparison) {
  std::string text;
  for (const std::string& line : lines_of(comparison.base)) text += "base  " + line + "\n";
  for (const std::string& line : lines_of(comparison.new_)) text += "new   " + line + "\n";
  const std::vector<Change> changes = comparison.changes();
  for (int kind = 0; kind <= static_cast<int>(ChangeKind::kPassesAgain); ++kind)
    text += list(changes, static_cast<ChangeKind>(kind));
  text += speed_table(comparison);
  const Correctness& cases = comparison.correctness;
  return text + "\n" + headline(comparison) + "; " + std::to_string(cases.cases) + (cases.cases == 1 ? " case, " : " cases, ") +
         std::to_string(cases.added) + " of them new; " + std::to_string(comparison.speeds.series.size()) +
         " series, " + std::to_string(decided(comparison.speeds)) + " of them decided\n";
}

}  // namespace ringcheck::reports
