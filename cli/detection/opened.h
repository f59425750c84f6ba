// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "reports/envelope.h"

namespace ringcheck::cli {

// A result of `ringcheck faults`, read.
struct Opened {
  reports::Environment environment;
  nlohmann::json own;
};

// Also of the form that it had before results had a kind: all members at the top, and of the
// environment commit, CPU, cores and seconds. Throws nlohmann::json::exception or
// std::invalid_argument where it is neither.
Opened opened(const nlohmann::json& file, reports::Kind kind);

}  // namespace ringcheck::cli
