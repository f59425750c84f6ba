// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/history/database.h"

namespace ringcheck::reports {

// The tables of a history: here, and in words in docs/results.md. Version n is
// what the first n of these make of an empty file. One that was released is not edited: another follows.
const std::vector<std::string>& migrations();

// Makes it a history of the newest version, in one transaction; an empty file becomes one where
// `create`. Throws BadHistory where it is none, or a newer one, and where it is older and cannot be
// written.
void migrate(Database& database, bool create,
             const std::vector<std::string>& steps = migrations());

}  // namespace ringcheck::reports
