// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/error.h"

namespace ringcheck {

std::string describe(const Operation& operation) {
  std::string text = operation.name;
  if (operation.step >= 0) text += ", step " + std::to_string(operation.step);
  if (operation.peer >= 0) text += ", peer " + std::to_string(operation.peer);
  return text;
}

RankFailure::RankFailure(int rank, const Operation& operation, bool hang, const std::string& what)
    : std::runtime_error("rank " + std::to_string(rank) + " in " + describe(operation) + ": " + what),
      rank_(rank), operation_(operation), hang_(hang) {}

}  // namespace ringcheck
