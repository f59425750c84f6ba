// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "cli/detection/kill_matrix.h"

namespace ringcheck::cli {

// "3 of 4 (75.0 %)"
std::string share(int part, int whole);

// Where a fault of the subject is not equivalent and the tests of a project look at its dtype: in
// how many such cells they notice. Where they reject the case without the bug as well, in none.
std::map<std::string, parity::Score> scores_of_peers(const KillMatrix& matrix);

// A line a project, ours in the same cells beside it.
// Ours, where the tests of this project look.
parity::Score score_beside(const KillMatrix& matrix, const std::string& peer);
std::string peers_table(const KillMatrix& matrix);

}  // namespace ringcheck::cli
