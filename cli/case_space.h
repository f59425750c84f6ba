// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "parity/case.h"

namespace ringcheck::cli {

// The generator is fixed by the standard; distributions are not, so they are not used.
using Random = std::mt19937_64;
int64_t draw(Random& random, int64_t least, int64_t most);

// How large the cases are.
struct Sizes {
  int64_t least_seq = 24, most_seq = 200;
  std::vector<std::string> heads;  // "hq/hkv"
  std::vector<std::string> dims;   // "d/dv"
  std::vector<int> worlds;
};
Sizes smoke_sizes();
Sizes stress_sizes();
Sizes clean_sizes();

// Everything a case can be made of, as lists of choices; members of open families come from their
// registries.
class CaseSpace {
 public:
  // On a device ("cpu", "cuda") there are the kernels that run on it.
  CaseSpace(Sizes sizes, const std::string& device);

  // An index into the values of each factor.
  using Choice = std::vector<int>;
  Choice choose(Random& random) const;
  // The case of a choice; what a choice leaves open (length, documents, parameters) is drawn. A
  // kernel that cannot run it is replaced by one that runs everything on the device.
  parity::Case build(const Choice& choice, Random& random) const;

  struct Factor {
    std::string name;
    std::vector<std::string> values;
  };
  const std::vector<Factor>& factors() const { return factors_; }

 private:
  const std::string& value(const Choice& choice, const std::string& factor) const;

  Sizes sizes_;
  std::string device_;
  std::vector<Factor> factors_;
};

}  // namespace ringcheck::cli
