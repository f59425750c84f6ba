// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cp/attention/strategy.h"
#include "cp/layout/balancer.h"
#include "parity/case/method.h"
#include "parity/case/place.h"
#include "parity/case/task.h"

namespace ringcheck::parity {

// A Case, or a part of one, cannot be: says the value, the limit and the fix.
class BadCase : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// Task x Method x Place: a plain value that says everything about one check.
struct Case : Task, Method, Place {
  bool operator==(const Case&) const = default;
};

// The canonical text form, the parts of parity/case/part.h in their order, every one printed:
// ring:alltoall/headtail/plain/causal/thread/cpu/P4/b1/hq8/hkv2/s1024/d64/dv64/bf16/rope:none/scale:default/spread3/seed7
std::string to_text(const Case& test);
// Parts at their default may be left out; dv follows d, hkv follows hq, s follows the documents
// where they are not said. Throws BadCase.
Case parse_case(const std::string& text);

// Object with the parts as members, by name: whole numbers as such, all else in its text form.
nlohmann::json to_json(const Case& test);
Case case_from_json(const nlohmann::json& json);  // throws BadCase

// Throws BadCase where the parts contradict each other or cannot exist.
void validate(const Case& test);

// What follows from a case, for a strategy of ours.
Layout layout_of(const Case& test);
Plan plan_of(const Case& test);
bool any_on_cuda(const std::vector<Case>& cases);

// The same case in the arguments of its strategy that stand for all that give the same bits.
Case representative(Case test);

// Its dtype, batch, heads and channels, of which a strategy makes blocks.
BlockShape block_shape(const Case& test);

// Why ours cannot run this combination of parts, or nothing: valid, but not supported.
std::optional<std::string> not_supported(const Case& test);
// The same of its tensors under another plan, asked of strategy and kernel alone.
std::optional<std::string> not_supported(const Case& test, const Plan& plan);

}  // namespace ringcheck::parity
