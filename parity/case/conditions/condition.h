// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parity/case/conditions/facts.h"

namespace ringcheck::parity {

// Something rare, or easily done wrong, that a list of cases must contain often enough.
struct Condition {
  enum class Rank {
    kUsual,
    kDangerous,  // wanted together with every mask, balancer, strategy, dtype and kernel, and with
                 // each of the worst, in cases that tell (Facts)
    kWorst,      // also with every two of them
    kCostly,     // a case takes seconds: a third of the others are enough
    kCostliest   // and a tenth: none in the smallest profile
  };
  std::string name;
  Rank rank = Rank::kUsual;
  std::function<bool(const Facts&)> holds;
  std::string part = {};  // it says the value of this part, and no case has two of its values
};
using Conditions = std::vector<Condition>;

// All of them for the cases of a device ("cpu", "cuda"), whose kernels are among them.
Conditions conditions_of(const std::string& device);

// Rows of the table.
Conditions values_of_parts(const std::string& device);
Conditions shape_conditions(const std::string& device);
Conditions sequence_conditions();
Conditions mask_conditions();

}  // namespace ringcheck::parity
