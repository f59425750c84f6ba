// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "parity/judge/judging.h"

namespace ringcheck::cli {

// The oracles that a list with commas names; "" is those that are content with one run of the
// subject, "all" every one. Throws UsageError.
std::vector<std::string> parse_oracles(const std::string& text);
// The same with what each case draws beside them where the list is "", and all is judged.
parity::Judging judging_of(const std::string& text, int64_t sample, const std::string& kept = "");
std::string text_of(const std::vector<std::string>& oracles);

}  // namespace ringcheck::cli
