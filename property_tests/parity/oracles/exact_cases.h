// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "property_tests/parity/case/generators.h"

namespace ringcheck {

// An oracle with exact answers, or with bounds from a closed form.
struct ExactOracle {
  std::string name, family;          // of the data that it judges
  std::vector<std::string> tensors;  // that it claims
  bool every_bit = false;            // or up to what rounding may do
};
const std::vector<ExactOracle>& exact_oracles();

namespace gen {
// A small case whose data are of that family.
rc::Gen<parity::Case> exact_case(const std::string& family);
}  // namespace gen

}  // namespace ringcheck
