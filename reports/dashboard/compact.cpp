// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/dashboard/compact.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace ringcheck::reports {

using nlohmann::json;

json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

json rounded(const json& figure) {
  return figure.is_number() ? rounded(figure.get<double>()) : json();
}

json ranges(const std::vector<size_t>& ascending) {
  return stretches_of(ascending);
}

}  // namespace ringcheck::reports
