// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/detection/peer_scores.h"

#include <sstream>

#include "reports/text.h"

namespace ringcheck::cli {

using parity::Cell;
using parity::Score;

std::string share(int part, int whole) {
  if (whole == 0) return "none";
  return std::to_string(part) + " of " + std::to_string(whole) + " (" +
         reports::fixed(100.0 * part / whole, 1) + " %)";
}

std::map<std::string, Score> scores_of_peers(const KillMatrix& matrix) {
  std::map<std::string, Score> scores;
  for (const Cell& cell : matrix.cells) {
    if (cell.result != Cell::Result::kKilled && cell.result != Cell::Result::kSurvived) continue;
    for (const auto& [peer, status] : cell.peers) {
      if (status == parity::Status::kNotApplicable) continue;
      Score& score = scores[peer];
      ++(status == parity::Status::kFail ? score.killed : score.survived);
    }
  }
  return scores;
}

Score score_beside(const KillMatrix& matrix, const std::string& peer) {
  std::vector<Cell> cells = matrix.cells;
  std::erase_if(cells, [&](const Cell& cell) {
    const auto found = cell.peers.find(peer);
    return found == cell.peers.end() || found->second == parity::Status::kNotApplicable;
  });
  return parity::score_of(cells);
}

std::string peers_table(const KillMatrix& matrix) {
  std::ostringstream text;
  for (const auto& [peer, score] : scores_of_peers(matrix)) {
    const Score ours = score_beside(matrix, peer);
    text << "| " << peer << " | " << share(score.killed, score.counted()) << " | "
         << share(ours.killed, ours.counted()) << " |\n";
  }
  return text.str();
}

}  // namespace ringcheck::cli
