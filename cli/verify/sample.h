// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/result.h"

namespace ringcheck::cli {

// The value of --sample. Throws UsageError.
int64_t sample_of(const std::string& text);

// What a run with --sample ends with: how much was judged, and what that can miss.
std::string sampled_text(int64_t sample, const std::vector<reports::CaseResult>& cases);

}  // namespace ringcheck::cli
