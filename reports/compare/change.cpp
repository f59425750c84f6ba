// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/compare/change.h"

#include <array>
#include <stdexcept>

#include "reports/exit_codes.h"

namespace ringcheck::reports {
namespace {

struct Row {
  ChangeKind kind;
  const char* text;
  int exit_code;
};

constexpr std::array<Row, 9> kRows{{{ChangeKind::kDead, "newly hangs or crashes", exit_codes::kDead},
                                    {ChangeKind::kFails, "newly fails", exit_codes::kWrong},
                                    {ChangeKind::kContract, "newly violates a contract", exit_codes::kContract},
                                    {ChangeKind::kCounter, "counts otherwise", exit_codes::kContract},
                                    {ChangeKind::kUnjudged, "no longer judged", exit_codes::kInconclusive},
                                    {ChangeKind::kVanished, "vanished", exit_codes::kInconclusive},
                                    {ChangeKind::kStaleWaiver, "waived no longer", exit_codes::kWrong},
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
