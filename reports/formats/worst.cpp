// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/worst.h"

#include "reports/formats/largest.h"

namespace ringcheck::reports {

std::map<std::pair<std::string, std::string>, Worst> worst_of(const Result& result) {
  std::map<std::pair<std::string, std::string>, std::pair<Largest, std::string>> found;
  for (const CaseResult& test : result.cases)
    for (const OracleResult& oracle : test.oracles)
      for (const TensorResult& tensor : oracle.tensors) {
        auto& [largest, where] = found[{oracle.name, tensor.tensor}];
        if (largest.add(tensor)) where = test.name;
      }
  std::map<std::pair<std::string, std::string>, Worst> all;
  for (const auto& [of, one] : found)
    if (const auto& [largest, where] = one; largest.error)
      all[of] = {*largest.error, *largest.sigmas, largest.blind.value_or(0), where};
  return all;
}

}  // namespace ringcheck::reports
