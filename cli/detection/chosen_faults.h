// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ringcheck::cli {

// The faults that lists ask for by name, group or operator of the catalogue; all where none does.
// Throws UsageError on a word that is none of these.
std::vector<std::string> chosen_faults(const std::vector<std::string>& lists);

}  // namespace ringcheck::cli
