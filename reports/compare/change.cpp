// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/compare/change.h"

#include <array>
#include <stdexcept>

namespace ringcheck::reports {
namespace {

struct Row {
  ChangeKind kind;
  const char* text;
  int exit_code;
};

constexpr std::array<Row, 9> kRows{{{ChangeKind::kDead, "newly hangs or crashes", 5},
                                    {ChangeKind::kFails, "newly fails", 1},
                                    {ChangeKind::kContract, "newly violates a contract", 4},
                                    {ChangeKind::kCounter, "counts otherwise", 4},
                                    {ChangeKind::kUnjudged, "no longer judged", 6},
                                    {ChangeKind::kVanished, "vanished", 6},
                                    {ChangeKind::kStaleWaiver, "waived no longer", 1},
                                    {ChangeKind::kStillFails, "still fails", 0},
                                    {ChangeKind::kPassesAgain, "passes again", 0}}};

const Row& row_of(ChangeKind kind) {
  for (const Row& row : kRows)
    if (row.kind == kind) return row;
  throw std::logic_error("a change without a name");
}

}  // namespace

std::string to_text(ChangeKind kind) { return row_of(kind).text; }
bool is_worse(ChangeKind kind) { return row_of(kind).exit_code != 0; }
int exit_code(ChangeKind kind) { return row_of(kind).exit_code; }

}  // namespace ringcheck::reports
