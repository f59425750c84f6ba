// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/kind.h"

#include <array>
#include <stdexcept>
#include <utility>

namespace ringcheck::reports {
namespace {

constexpr std::array<std::pair<Kind, const char*>, 10> kKinds{{
    {Kind::kVerify, "verify"},
    {Kind::kFaults, "faults"},
    {Kind::kSensitivity, "sensitivity"},
    {Kind::kGuard, "guard"},
    {Kind::kDoctor, "doctor"},
    {Kind::kBench, "bench"},
    {Kind::kScaling, "scaling"},
    {Kind::kSearch, "search"},
    {Kind::kCompare, "compare"},
    {Kind::kPlan, "plan"},
}};

}  // namespace

std::string to_text(Kind kind) {
  for (const auto& [known, text] : kKinds)
    if (known == kind)
      return text;
  throw std::logic_error("a kind of result without a name");
}

Kind parse_kind(const std::string& text) {
  for (const auto& [kind, known] : kKinds)
    if (text == known)
      return kind;
  throw std::invalid_argument("unknown kind of result '" + text + "'");
}

bool has_cases(Kind kind) { return kind == Kind::kVerify || kind == Kind::kScaling; }

}  // namespace ringcheck::reports
