// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

// What no change may make worse: what is worse, in words; nothing where all is well. Results are
// in JSON, as `ringcheck` writes them.
namespace ringcheck::testing {

inline constexpr double kVacuous = 0.02;  // of a tensor's energy

// A result in reports/results.
nlohmann::json committed_result(const std::string& name);

// What a result has of its own; all of it, where it is from before results had a kind.
const nlohmann::json& own_part(const nlohmann::json& result);
nlohmann::json& own_part(nlohmann::json& result);

// In one dtype: what the committed matrix of `ringcheck faults` kills and this one does not, and
// what survives in this one only.
std::vector<std::string> lost_kills(const nlohmann::json& matrix, const nlohmann::json& committed,
                                    const std::string& dtype);

// Limits of `ringcheck faults --sensitivity` in these dtypes that are gone or more than twice the
// committed ones. Of our own detectors: what other projects' tests see is not ours to hold.
std::vector<std::string> doubled_limits(const nlohmann::json& found,
                                        const nlohmann::json& committed,
                                        const std::set<std::string>& dtypes);

// Tensors of a result of `ringcheck verify` that count as judged although a zero would pass for 2 %
// of their energy, and those that should have been judged and were not.
std::vector<std::string> vacuous(const nlohmann::json& result);

}  // namespace ringcheck::testing
