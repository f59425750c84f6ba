// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Families whose elements are independent of each other.
#include <algorithm>
#include <cmath>

#include "parity/case/data_family.h"

namespace ringcheck::parity {
namespace {

double unit(const Element& e) { return static_cast<double>(e.bits(0)[0] >> 8) / 0x1000000; }

double spread3(const Element& e) { return normal(e) * (is_score(e.which) ? 1.75 : 1); }
double peaked(const Element& e) { return normal(e) * (is_score(e.which) ? 2.5 : 1); }
double flat(const Element& e) { return normal(e) * (is_score(e.which) ? 0.125 : 1); }
double uniform(const Element& e) { return e.which == Which::kDo ? normal(e) : unit(e); }
double outliers(const Element& e) {
  return normal(e) * (e.which != Which::kDo && e.bits(1)[0] % 1000 == 0 ? 10 : 1);
}
double offset(const Element& e) {
  return e.which == Which::kV ? 100 + std::floor(normal(e) * 1024) / 1024 : spread3(e);
}
double wide(const Element& e) {
  const int exponent = static_cast<int>(e.bits(1)[0] % 13) - 6;
  return is_score(e.which) ? spread3(e) : std::ldexp(normal(e), exponent);
}

DataFamily independent(double (*value)(const Element&), const char* says) {
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
  const DataFamily others = independent(spread3, "v = 1: O must be 1");
  DataFamily family = others;
  family.fill = [others](const Task& test, const Element& first, std::span<double> row) {
    if (first.which == Which::kV) std::ranges::fill(row, 1);
    else others.fill(test, first, row);
  };
  return nearly_constant_v(family);
}

const DataFamilies::Add registered[] = {
    {"spread3", independent(spread3, "normal, q and k so wide that logits have standard deviation 3")},
    {"normal", independent(normal, "N(0,1) everywhere")},
    {"uniform", independent(uniform, "q, k and v in [0, 1): flat, all positive")},
    {"outliers", independent(outliers, "N(0,1) with one value in a thousand ten times larger")},
    {"peaked", independent(peaked, "q and k times 2.5: nearly one-hot")},
    {"flat", independent(flat, "q and k over 8: nearly uniform attention")},
    {"offset", nearly_constant_v(independent(offset, "v = 100 + N(0,1)"))},
    {"ones", ones()},
    {"wide", independent(wide, "v and dO over thirteen binades")}};

}  // namespace
}  // namespace ringcheck::parity
