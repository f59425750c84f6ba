// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/detection_page.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/hunters.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using parity::Cell;
using parity::Faults;
using parity::Score;
using reports::fixed;

std::string share(int part, int whole) {
  if (whole == 0) return "none";
  return std::to_string(part) + " of " + std::to_string(whole) + " (" +
         fixed(100.0 * part / whole, 1) + " %)";
}

std::vector<Cell> in(const Detection& detection, const std::string& dtype) {
  std::vector<Cell> cells = detection.cells;
  std::erase_if(cells, [&](const Cell& c) { return parity::dtype_text(c.dtype) != dtype; });
  return cells;
}

std::vector<std::string> dtypes(const Detection& detection) {
  std::vector<std::string> names;
  for (const Cell& cell : detection.cells)
    if (const auto name = parity::dtype_text(cell.dtype);
        std::ranges::find(names, name) == names.end())
      names.push_back(name);
  return names;
}

// A fault counts as noticed where it is killed in at least one dtype.
Score by_fault(const Detection& detection) {
  std::map<std::string, Cell> best;
  for (const Cell& cell : detection.cells) {
    if (cell.result == Cell::Result::kNotApplicable) continue;
    Cell& kept = best.try_emplace(cell.fault, cell).first->second;
    if (cell.result == Cell::Result::kKilled &&
        (kept.result != Cell::Result::kKilled || !kept.localised))
      kept = cell;
  }
  std::vector<Cell> cells;
  for (const auto& [name, cell] : best) cells.push_back(cell);
  return parity::score_of(cells);
}

std::string headline(const Detection& detection) {
  const Score faults = by_fault(detection), all = parity::score_of(detection.cells);
  std::ostringstream text;
  text << "faults killed in at least one dtype: " << share(faults.killed, faults.counted())
       << "; equivalent: " << faults.equivalent << "\n";
  for (const std::string& dtype : dtypes(detection)) {
    const Score score = parity::score_of(in(detection, dtype));
    text << "killed in " << dtype << ": " << share(score.killed, score.counted()) << "\n";
  }
  text << "all dtypes: " << share(all.killed, all.counted()) << "\n"
       << "kills that named the right tensor, rank or counter: " << share(all.localised, all.killed)
       << "\n";
  return text.str();
}

std::map<std::string, int> kills_by_oracle(const Detection& detection) {
  std::map<std::string, int> kills;
  for (const Cell& cell : detection.cells)
    for (const auto& [oracle, status] : cell.seen_by)
      kills[oracle] += status == parity::Status::kFail;
  return kills;
}

std::string self_test_text(const parity::SelfTest& test) {
  std::string text = "self-test of the judging: " + std::to_string(test.demands) + " demands, " +
                     std::to_string(test.failures.size()) + " not met\n";
  for (const std::string& failure : test.failures) text += "  " + failure + "\n";
  return text;
}

// What is wrong with the cases themselves.
std::vector<std::string> unclean(const Detection& detection) {
  std::vector<std::string> all;
  for (const Cell& cell : detection.cells)
    for (const std::string& what : cell.unclean)
      if (std::ranges::find(all, what) == all.end()) all.push_back(what);
  return all;
}

std::string mark(const Cell& cell) {
  switch (cell.result) {
    case Cell::Result::kKilled: return cell.killer + (cell.localised ? "" : " (not localised)");
    case Cell::Result::kSurvived: return "**survived**";
    case Cell::Result::kEquivalent: return "equivalent";
    case Cell::Result::kNotApplicable: return "-";
  }
  return "";
}

// Everybody who saw it in any dtype.
std::string seen_by(const std::vector<Cell>& cells) {
  std::map<std::string, bool> seen;
  for (const Cell& cell : cells)
    for (const auto& [oracle, status] : cell.seen_by)
      if (status == parity::Status::kFail) seen[oracle] = true;
  std::string text;
  for (const auto& [oracle, yes] : seen) text += (text.empty() ? "" : ", ") + oracle;
  return text;
}

std::string without_pipes(std::string text) {
  std::ranges::replace(text, '|', '/');
  return text;
}

// A group of faults: what is wrong, who killed it first in each dtype and when, who else saw it.
std::string group_table(const Detection& detection, const std::string& group) {
  const auto columns = dtypes(detection);
  std::ostringstream text;
  text << "\n### " << group << "\n\n| fault | stands for | " << c10::Join(" | ", columns)
       << " | ms | seen by |\n|---|---|" ;
  for (size_t i = 0; i < columns.size() + 2; ++i) text << "---|";
  text << "\n";
  for (const auto& [name, fault] : Faults::all()) {
    if (fault.group != group) continue;
    std::vector<Cell> row = detection.cells;
    std::erase_if(row, [&, &n = name](const Cell& cell) { return cell.fault != n; });
    if (row.empty()) continue;
    double first = -1;
    text << "| `" << name << "`: " << without_pipes(fault.wrong) << " | "
         << c10::Join(" ", fault.operators) << " " << without_pipes(fault.stands_for) << " |";
    for (const Cell& cell : row) {
      text << " " << mark(cell) << " |";
      if (cell.result == Cell::Result::kKilled && (first < 0 || cell.milliseconds < first))
        first = cell.milliseconds;
    }
    text << " " << (first < 0 ? "-" : fixed(first, 1)) << " | " << seen_by(row) << " |\n";
  }
  return text.str();
}

std::string survivors(const Detection& detection) {
  std::ostringstream text;
  for (const Cell& cell : detection.cells)
    if (cell.result == Cell::Result::kSurvived || cell.result == Cell::Result::kEquivalent)
      text << "- `" << cell.fault << "` in " << parity::dtype_text(cell.dtype) << " ("
           << to_text(cell.result) << "): " << cell.reason << "\n";
  return text.str();
}

constexpr const char* kIntroduction = R"(# Detection

Generated by `ringcheck faults --markdown`. Every planted bug stands for a real one. It is killed
where an oracle rejects its outcome, or a deadline or a failing rank shows it, while the same cases
without it pass every oracle. An oracle that needs further runs of a case is asked where the cheaper
ones saw nothing or did not name the place, so its count is a lower bound. A fault of the judging
itself is killed by the self-test that comes before every run.
)";

constexpr const char* kLegend = R"(
A cell of the tables names the oracle that noticed first, the cheapest; `ms` is how soon in the
fastest dtype; a dash, that the fault cannot show in this dtype.
)";

}  // namespace

std::string console_text(const Detection& detection) {
  std::ostringstream text;
  text << self_test_text(detection.self_test);
  if (!detection.self_test.failures.empty())
    return text.str() + "the judging itself is broken: nothing was planted\n";
  for (const std::string& what : unclean(detection)) text << "not clean: " << what << "\n";
  text << "\n" << survivors(detection) << "\n";
  for (const auto& [oracle, kills] : kills_by_oracle(detection))
    text << reports::left(oracle, 20) << " saw " << kills << "\n";
  text << "\n" << headline(detection) << "wall time: " << reports::seconds_text(detection.seconds)
       << "\n";
  return text.str();
}

std::string markdown_text(const Detection& detection) {
  std::ostringstream text;
  text << kIntroduction << "\n";
  std::istringstream lines(headline(detection));
  for (std::string line; std::getline(lines, line);) text << "- " << line << "\n";
  text << "- " << self_test_text(detection.self_test)
       << "- wall time: " << reports::seconds_text(detection.seconds) << " on "
       << detection.environment.cpu
       << "\n\n| oracle | cells in which it saw the fault |\n|---|---|\n";
  for (const auto& [oracle, kills] : kills_by_oracle(detection))
    text << "| " << oracle << " | " << kills << " |\n";
  text << kLegend;
  std::vector<std::string> groups;
  for (const auto& [name, fault] : Faults::all()) groups.push_back(fault.group);
  std::ranges::sort(groups);
  groups.erase(std::ranges::unique(groups).begin(), groups.end());
  for (const std::string& group : groups) text << group_table(detection, group);
  text << "\n## Not killed\n\n" << survivors(detection);
  return text.str();
}

std::string json_text(const Detection& detection) {
  const Score all = parity::score_of(detection.cells), faults = by_fault(detection);
  const auto score = [](const Score& s) {
    return nlohmann::json{{"killed", s.killed}, {"survived", s.survived},
                          {"equivalent", s.equivalent}, {"localised", s.localised}};
  };
  nlohmann::json head{{"schema", 1},
                      {"commit", detection.environment.commit},
                      {"cpu", detection.environment.cpu},
                      {"oracles", detection.oracles},
                      {"self_test", {{"demands", detection.self_test.demands},
                                     {"failures", detection.self_test.failures}}},
                      {"seconds", std::round(detection.seconds)},
                      {"score", score(all)},
                      {"faults", score(faults)},
                      {"unclean", unclean(detection)}};
  for (const std::string& dtype : dtypes(detection))
    head["by_dtype"][dtype] = score(parity::score_of(in(detection, dtype)));
  std::string text = head.dump(1);
  text.resize(text.rfind('\n'));
  text += ",\n \"cells\": [";
  const char* separator = "\n  ";
  for (const Cell& cell : detection.cells) {
    text += separator + to_json(cell).dump();
    separator = ",\n  ";
  }
  return text + "\n ]\n}\n";
}

}  // namespace ringcheck::cli
