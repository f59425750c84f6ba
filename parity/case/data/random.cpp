// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Families whose elements are independent of each other.
#include <algorithm>

#include "parity/case/data/independent.h"
#include "parity/case/data_family.h"

namespace ringcheck::parity {
namespace {

using namespace independent;

template <class Numbers>
DataFamily independently(Numbers value, const char* says) {
  return {says, [value](const Task& test, Element e, std::span<double> row) {
            for (double& x : row) {
              x = filled(value(e), e, test.dtype);
              ++e.channel;
            }
          }};
}

// A nearly constant V: there dS is the difference of equal numbers.
DataFamily nearly_constant_v(DataFamily family) {
  family.silent = {"dq", "dk"};
  return family;
}

// V is 1 in every dtype, also in those that are filled up.
DataFamily ones() {
  const DataFamily others = independently(Spread3(), "v = 1: O must be 1");
  DataFamily family = others;
  family.fill = [others](const Task& test, const Element& first, std::span<double> row) {
    if (first.which == Which::kV) std::ranges::fill(row, 1);
    else others.fill(test, first, row);
  };
  return nearly_constant_v(family);
}

const DataFamilies::Add registered[] = {
    {Spread3::name,
     independently(Spread3(), "normal, q and k so wide that logits have standard deviation 3")},
    {Normal::name, independently(Normal(), "N(0,1) everywhere")},
    {Uniform::name, independently(Uniform(), "q, k and v in [0, 1): flat, all positive")},
    {Outliers::name,
     independently(Outliers(), "N(0,1) with one value in a thousand ten times larger")},
    {Peaked::name, independently(Peaked(), "q and k times 2.5: nearly one-hot")},
    {Flat::name, independently(Flat(), "q and k over 8: nearly uniform attention")},
    {Offset::name, nearly_constant_v(independently(Offset(), "v = 100 + N(0,1)"))},
    {"ones", ones()},
    {Wide::name, independently(Wide(), "v and dO over thirteen binades")}};

}  // namespace
}  // namespace ringcheck::parity
