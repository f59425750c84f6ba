// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ringcheck::cli {

// The oracles that a list with commas names; "" is those that are content with one run of the
// subject, "all" every one. Throws UsageError.
std::vector<std::string> parse_oracles(const std::string& text);
std::string text_of(const std::vector<std::string>& oracles);

}  // namespace ringcheck::cli
