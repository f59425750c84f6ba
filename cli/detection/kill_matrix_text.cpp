// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "cli/detection/kill_matrix.h"
#include "cli/detection/peer_scores.h"
#include "reports/text.h"

namespace ringcheck::cli {

using parity::Cell;
using parity::Score;

std::string headline(const KillMatrix& matrix) {
  const Score faults = score_by_fault(matrix), all = parity::score_of(matrix.cells);
  std::ostringstream text;
  text << "faults killed in at least one dtype: " << share(faults.killed, faults.counted())
       << "; equivalent: " << faults.equivalent << "\n";
  for (const std::string& dtype : dtypes_of(matrix)) {
    const Score score = score_in(matrix, dtype);
    text << "killed in " << dtype << ": " << share(score.killed, score.counted()) << "\n";
  }
  text << "all dtypes: " << share(all.killed, all.counted()) << "\n"
       << "kills that named the right tensor, rank or counter: " << share(all.localised, all.killed)
       << "\n";
  return text.str();
}

std::string self_test_text(const parity::SelfTest& test) {
  std::string text = "self-test of the judging: " + std::to_string(test.demands) + " demands, " +
                     std::to_string(test.failures.size()) + " not met\n";
  for (const std::string& failure : test.failures) text += "  " + failure + "\n";
  return text;
}

std::string not_killed(const KillMatrix& matrix) {
  std::ostringstream text;
  for (const Cell& cell : matrix.cells)
    if (cell.result == Cell::Result::kSurvived || cell.result == Cell::Result::kEquivalent)
      text << "- `" << cell.fault << "` in " << parity::dtype_text(cell.dtype) << " ("
           << to_text(cell.result) << "): " << cell.reason << "\n";
  return text.str();
}

std::string profile_headline(const KillMatrix& matrix) {
  const Score score = parity::score_of(matrix.cells);
  return "profile " + matrix.profile + " itself kills " + share(score.killed, score.counted()) +
         ", and names the right tensor, rank or counter of " +
         share(score.localised, score.killed) + "\n";
}

namespace {

// A line a fault: who saw it in which case, or that it lives.
std::string profile_text(const KillMatrix& matrix) {
  std::ostringstream text;
  for (const Cell& cell : matrix.cells) {
    text << reports::left(cell.fault, 36) << " " << reports::left(to_text(cell.result), 14) << " ";
    if (cell.result == Cell::Result::kKilled)
      text << "case " << cell.cases << " " << cell.test << "\n" << std::string(52, ' ')
           << (cell.localised ? "" : "not named: ") << cell.killer << ": " << cell.finding << "\n";
    else
      text << cell.reason << "\n";
  }
  return text.str() + "\n" + profile_headline(matrix);
}

}  // namespace

std::string console_text(const KillMatrix& matrix) {
  std::ostringstream text;
  text << self_test_text(matrix.self_test);
  if (!matrix.self_test.failures.empty())
    return text.str() + "the judging itself is broken: nothing was planted\n";
  if (!matrix.profile.empty())
    return text.str() + profile_text(matrix) + "wall time: " +
           reports::seconds_text(matrix.environment.wall_seconds) + "\n";
  for (const std::string& what : unclean(matrix)) text << "not clean: " << what << "\n";
  text << "\n" << not_killed(matrix) << "\n";
  for (const auto& [oracle, asked] : times_asked(matrix))
    text << reports::left(oracle, 20) << " asked " << reports::right(std::to_string(asked.times), 5)
         << " times, saw " << asked.saw << "\n";
  text << "\n" << peers_table(matrix) << "\n" << headline(matrix)
       << "wall time: " << reports::seconds_text(matrix.environment.wall_seconds) << "\n";
  return text.str();
}

}  // namespace ringcheck::cli
