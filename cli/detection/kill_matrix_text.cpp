// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "cli/detection/kill_matrix.h"
#include "cli/detection/peer_scores.h"

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

}  // namespace ringcheck::cli
