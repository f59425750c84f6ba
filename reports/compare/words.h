// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/compare/comparison.h"

// What all renderings of a comparison say alike.
namespace ringcheck::reports {

// "file, commit 0123456789ab, 2026-01-01T00:00:00Z", a line a run.
std::vector<std::string> lines_of(const Side& side);

// "rank 1: forward.messages 12 -> 13".
std::string line_of(const Change& change);

// The name of a series with the parts in which not all series agree, in the order of the series.
std::vector<std::string> labels_of(const std::vector<Speed>& series);

// "+5.2 %".
std::string percent(double ratio);
// "+4.1 ... +6.3 %", or "-".
std::string interval_text(const Speed& speed);
std::string smallest_text(const Speed& speed);

// What the intervals mean; empty where none was sought.
std::string rule_text(const Comparison& comparison);

}  // namespace ringcheck::reports
