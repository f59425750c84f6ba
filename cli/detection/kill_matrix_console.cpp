// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <set>

#include "cli/detection/kill_matrix.h"
#include "cli/detection/peer_scores.h"
#include "parity/faults/fault.h"
#include "reports/exit_codes.h"
#include "reports/screen/table.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using parity::Cell;
using parity::Fault;
using parity::Faults;
using parity::Score;
using reports::Paint;
using reports::Table;
using reports::Tone;

constexpr size_t kBugs = 20;  // that are shown one by one

std::string line(const std::string& text, size_t indent) {
  return std::string(indent, ' ') + reports::wrapped(text, indent + 2, indent) + "\n";
}

std::map<std::string, std::vector<Cell>> by_fault(const KillMatrix& matrix) {
  std::map<std::string, std::vector<Cell>> found;
  for (const Cell& cell : matrix.cells) found[cell.fault].push_back(cell);
  return found;
}

std::string in_words(const Fault& fault) {
  return fault.wrong + " (stands for: " + fault.stands_for + ")";
}

std::string part(int some, int all) {
  return all == 0 ? "-" : std::to_string(some) + " of " + std::to_string(all);
}

// "4 of 4" cells, painted by whether all are.
Table::Entry seen(const Score& score) {
  return {part(score.killed, score.counted()),
          score.survived > 0 ? Tone::kBad : Tone::kPlain};
}

Table::Entry named(const Score& score) { return {part(score.localised, score.killed)}; }

// By whom first, in the first dtype in which it was seen; else what became of it.
std::string first_seen_by(const std::vector<Cell>& cells) {
  for (const Cell& cell : cells)
    if (cell.result == Cell::Result::kKilled) return cell.killer;
  switch (cells.front().result) {
    case Cell::Result::kEquivalent: return "changes nothing";
    case Cell::Result::kNotApplicable: return "cannot show here";
    default: return "nobody";
  }
}

// What it does, and of a profile in which case it showed.
std::string note(const Fault& fault, const std::vector<Cell>& cells) {
  const Cell& cell = cells.front();
  if (cell.result == Cell::Result::kNotApplicable) return in_words(fault) + "; " + cell.reason;
  if (cell.test.empty()) return in_words(fault);
  return in_words(fault) + "; seen in case " + std::to_string(cell.cases) + " of those tried, " +
         cell.test + ": " + cell.finding;
}

std::string bugs_table(const KillMatrix& matrix, const Paint& paint) {
  Table table({"planted bug", "first seen by", "seen", "placed"}, 2);
  for (const auto& [name, cells] : by_fault(matrix)) {
    const Score score = parity::score_of(cells);
    table.add({name, first_seen_by(cells), seen(score), named(score)},
              note(Faults::at(name), cells));
  }
  return table.text(paint);
}

std::string groups_table(const KillMatrix& matrix, const Paint& paint) {
  std::map<std::string, std::vector<Cell>> groups;
  std::map<std::string, std::set<std::string>> bugs;
  for (const Cell& cell : matrix.cells) {
    const std::string& group = Faults::at(cell.fault).group;
    groups[group].push_back(cell);
    bugs[group].insert(cell.fault);
  }
  Table table({"group of bugs", "bugs", "seen", "placed"}, 1);
  for (const auto& [group, cells] : groups) {
    const Score score = parity::score_of(cells);
    table.add({group, std::to_string(bugs[group].size()), seen(score), named(score)});
  }
  return table.text(paint) + line("--fault GROUP shows its bugs one by one; --list says what each "
                                  "of them does", 2);
}

std::string planted_table(const KillMatrix& matrix, const Paint& paint) {
  const std::string table =
      by_fault(matrix).size() > kBugs ? groups_table(matrix, paint) : bugs_table(matrix, paint);
  return table + paint(Tone::kFaint,
      "  seen    an oracle rejects the run with the bug: in how many of its dtypes\n"
      "  placed  the finding names the tensor, rank or counter that is wrong\n");
}

// The bugs that nobody saw and those that change nothing, each in words and with the reason.
std::string unseen(const KillMatrix& matrix, const Paint& paint) {
  std::string text;
  for (const Cell& cell : matrix.cells) {
    const bool survived = cell.result == Cell::Result::kSurvived;
    if (!survived && cell.result != Cell::Result::kEquivalent) continue;
    const std::string word = survived ? "NOT SEEN" : "CHANGES NOTHING";
    text += "\n" + paint(survived ? Tone::kBad : Tone::kOpen, word) + "  " + cell.fault + " in " +
            parity::dtype_text(cell.dtype) + "\n" + line(in_words(Faults::at(cell.fault)), 2) +
            line("because: " + cell.reason, 2);
  }
  return text;
}

std::string oracles_table(const KillMatrix& matrix, const Paint& paint) {
  Table table({"oracle (docs/oracles.md)", "runs judged", "bugs seen"}, 1);
  for (const auto& [oracle, asked] : times_asked(matrix))
    if (asked.times > 0)
      table.add({oracle, std::to_string(asked.times), std::to_string(asked.saw)});
  return table.text(paint);
}

std::string others_table(const KillMatrix& matrix, const Paint& paint) {
  const auto peers = scores_of_peers(matrix);
  if (peers.empty()) return "";
  Table table({"criteria of the tests of", "they see", "we see"}, 1);
  for (const auto& [peer, score] : peers) {
    const Score ours = score_beside(matrix, peer);
    table.add({peer, share(score.killed, score.counted()), share(ours.killed, ours.counted())});
  }
  return "\n" + table.text(paint);
}

// The first word of all, by what the run ends with.
std::string verdict(const KillMatrix& matrix, int exit_code, const Paint& paint) {
  const Score bugs = score_by_fault(matrix), all = parity::score_of(matrix.cells);
  const bool pass = exit_code == 0 && all.survived == 0;
  const std::string word = exit_code == exit_codes::kNothingRan ? "NOTHING RAN" : pass ? "PASS" : exit_code == 0 ? "NOT ALL SEEN" : "FAIL";
  const std::string where = matrix.profile.empty() ? "" : " in cases of profile " + matrix.profile;
  std::string text = "planted bugs seen" + where + ": " + share(bugs.killed, bugs.counted());
  if (all.counted() > bugs.counted())
    text += "; in every dtype: " + share(all.killed, all.counted());
  return paint(pass ? Tone::kGood : exit_code == 0 ? Tone::kOpen : Tone::kBad, word) + "  " +
         reports::wrapped(text, 2, word.size() + 2) + "\n" +
         line("findings that name the tensor, rank or counter: " +
              share(all.localised, all.killed), 2);
}

}  // namespace

std::string console_text(const KillMatrix& matrix, int exit_code, const Paint& paint) {
  const std::string judging = self_test_text(matrix.self_test);
  if (!matrix.self_test.failures.empty())
    return paint(Tone::kBad, "FAIL") + "  the judging itself is broken: nothing was planted\n" + judging;
  std::string text = verdict(matrix, exit_code, paint) + "  " + judging + "  wall time: " +
                     reports::seconds_text(matrix.environment.wall_seconds) + "\n\n";
  for (const std::string& what : unclean(matrix))
    text += line(paint(Tone::kBad, "FAIL") + "  without a bug: " + what, 0);
  text += planted_table(matrix, paint) + unseen(matrix, paint);
  if (!matrix.profile.empty()) return text;
  return text + "\n" + oracles_table(matrix, paint) + others_table(matrix, paint);
}

}  // namespace ringcheck::cli
