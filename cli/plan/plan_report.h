// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "cli/plan/degrees.h"
#include "reports/screen/tone.h"

namespace ringcheck::cli {

struct Plan {
  std::string model;  // its name, or empty
  std::string note;   // what of it is not planned
  Question question;
  Figures figures;
  std::vector<Degree> degrees;

  // The fewest ranks whose share fits, or nothing.
  const Degree* fewest() const;
};

// What people read.
std::string plan_text(const Plan& plan, const reports::Paint& paint);

// The own member of a result of kind plan: bytes, seconds and FLOP/s.
nlohmann::json plan_json(const Plan& plan);

}  // namespace ringcheck::cli
