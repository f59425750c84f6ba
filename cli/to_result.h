// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "parity/judge/verdict.h"
#include "reports/result.h"

namespace ringcheck::cli {

// The command that runs this case alone.
std::string reproduce_command(const parity::Case& test);

// A case that did not come to a verdict of its own.
reports::CaseResult to_result(const parity::Case& test, reports::Status verdict,
                              const std::string& reason);
reports::CaseResult to_result(const parity::Verdict& verdict);

// Of a result in JSON, what judging alone decides: without how long anything took.
nlohmann::json without_times(nlohmann::json result);

// Writes into a result that only a sample was judged, where that is so.
void note_sample(int64_t sample, reports::CaseResult& test);

}  // namespace ringcheck::cli
