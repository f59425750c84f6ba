// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/markdown.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "reports/formats/markdown_words.h"
#include "reports/formats/series.h"
#include "reports/formats/worst.h"
#include "reports/text.h"
#include "reports/formats/verdict.h"

namespace ringcheck::reports {
namespace {

constexpr size_t kFailures = 20, kFindings = 8, kMargins = 10;

std::string more(size_t all, size_t shown) {
  return all > shown ? "\nand " + std::to_string(all - shown) + " more; the JSON has them all\n" : "";
}

std::string where(const Environment& at) {
  std::string text = cell(at.command) + "; commit " + code(at.commit) + "; " + cell(at.host) + ", " +
                     std::to_string(at.cores) + " cores, " + cell(at.cpu);
  for (const std::string& part : {at.device, at.launcher, at.transport})
    if (!part.empty()) text += "; " + cell(part);
  return text + "; started " + cell(at.started) + "\n";
}

bool ended_badly(const CaseResult& test) {
  return test.verdict != Status::kPass && test.verdict != Status::kNotSupported &&
         test.verdict != Status::kSkipped;
}

std::string failure(const CaseResult& test) {
  std::string text = "\n**" + to_text(test.verdict) + "**: " + cell(headline(test)) + "\n\n" +
                     code_block(test.reproduce, "sh");
  const std::vector<std::string> findings = findings_of(test);
  if (!findings.empty()) text += "\n";
  for (size_t i = 0; i < std::min(findings.size(), kFindings); ++i)
    text += "- " + cell(findings[i]) + "\n";
  return text + more(findings.size(), kFindings);
}

std::string failures(const Result& result) {
  std::string text;
  size_t all = 0;
  for (const CaseResult& test : result.cases)
    if (ended_badly(test) && ++all <= kFailures) text += failure(test);
  return all == 0 ? "" : "\n### Did not pass\n" + text + more(all, kFailures);
}

// The nearest to failing, or the farthest beyond; an oracle that compares bits has no margin.
std::string worst_table(const Result& result) {
  using Row = std::pair<std::pair<std::string, std::string>, Worst>;
  std::vector<Row> rows;
  for (const auto& row : worst_of(result))
    if (!(row.second.error <= 0)) rows.push_back(row);
  if (rows.empty()) return "";
  const auto rank = [](const Row& row) {
    return std::isnan(row.second.error) ? std::numeric_limits<double>::infinity() : row.second.error;
  };
  std::ranges::stable_sort(rows, std::ranges::greater{}, rank);
  std::string text = "\n### Worst margins\n\n"
                     "An error above its bound (1), or above 8 sigmas, fails; blind: the largest share of a "
                     "tensor that could be zero unnoticed, below 0.02.\n\n"
                     "| oracle | tensor | error / bound | sigmas | blind | case |\n|---|---|--:|--:|--:|---|\n";
  for (size_t i = 0; i < std::min(rows.size(), kMargins); ++i) {
    const auto& [of, one] = rows[i];
    text += "| " + cell(of.first) + " | " + cell(of.second) + " | " + short_figure(one.error) + " | " +
            short_figure(one.sigmas) + " | " + short_figure(one.blind) + " | " + code(one.test) + " |\n";
  }
  return text + more(rows.size(), kMargins);
}

std::string judged_by_nobody(const Result& result) {
  const Judged judged = judged_in(result.cases);
  if (judged.all == 0) return "";
  std::string text = "\n### Judged by nobody\n\n" + std::to_string(judged.nobody) + " of " +
                     std::to_string(judged.all) + " tensors of ranks (o, lse, dq, dk, dv)";
  for (const auto& [tensor, count] : judged.nobody_by_tensor)
    text += ", " + cell(tensor) + " " + std::to_string(count);
  return text + "\n";
}

std::string did_not_run(const Result& result) {
  std::map<std::pair<std::string, std::string>, int64_t> reasons;
  for (const CaseResult& test : result.cases)
    if (test.verdict == Status::kNotSupported || test.verdict == Status::kSkipped)
      ++reasons[{to_text(test.verdict), test.reason}];
  if (reasons.empty()) return "";
  std::string text = "\n### Did not run\n\n| cases | | reason |\n|--:|---|---|\n";
  for (const auto& [why, count] : reasons)
    text += "| " + std::to_string(count) + " | " + cell(why.first) + " | " + cell(why.second) + " |\n";
  return text;
}

std::string measured(const Result& result) {
  const std::vector<Measurement>& all = result.measurements;
  if (all.empty()) return "";
  std::string text = "\n### Measured\n\n| of | what | median | least | most | unit | samples |\n"
                     "|---|---|--:|--:|--:|---|--:|\n";
  const std::vector<std::string> subjects = subjects_of(result);
  for (size_t i = 0; i < std::min(all.size(), kMarkdownRows); ++i) {
    const Sampled of = sampled(all[i]);
    const auto shown = [&](double value) { return of.samples.empty() ? "-" : significant(value); };
    text += "| " + code(subjects[i]) + " | " + cell(all[i].name) + " | " + shown(of.median) + " | " +
            shown(of.least) + " | " + shown(of.most) + " | " + cell(all[i].unit) + " | " +
            std::to_string(of.samples.size()) + " |\n";
  }
  return text + more(all.size(), kMarkdownRows);
}

}  // namespace

std::string markdown(const Result& result, int exit_code, const std::vector<std::string>& notes) {
  const std::string counts = has_cases(result.kind)
                                 ? counts_text(result)
                                 : std::to_string(result.measurements.size()) + " measurements";
  std::string text = "## " + verdict_word(exit_code) + ": " + counts + "\n\n" + where(result.environment);
  if (!notes.empty()) text += "\n";
  for (const std::string& note : notes) text += "- " + cell(note) + "\n";
  return text + failures(result) + judged_by_nobody(result) + worst_table(result) + did_not_run(result) +
         measured(result);
}

}  // namespace ringcheck::reports
