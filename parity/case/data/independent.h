// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <tuple>

#include "parity/case/data/element.h"

// The numbers of the families whose elements are independent of each other, as a CPU and a GPU make
// them, bit for bit: of integers, exact operations and rounded + - x / alone. An element E is an
// Element whose bits(draw) the device can ask for.
namespace ringcheck::parity::independent {

// Irwin-Hall with eight terms. Integers up to the last step, so that what follows can be exact in
// float32.
template <class E>
RINGCHECK_ON_ANY_DEVICE double normal(const E& e) {
  const auto bits = e.bits(0);
  int32_t sum = 0;
  for (int i = 0; i < 4; ++i) sum += static_cast<int32_t>((bits[i] & 0x7fff) + (bits[i] >> 17));
  return (sum - 4 * 0x7fff) * 5.0 / 0x20000;
}

// Of a float64 more bits than the draws fill, by a relative 2^-27 at most, from draw 2.
template <class E>
RINGCHECK_ON_ANY_DEVICE double filled(double value, const E& e) {
  return value * (1 + static_cast<int32_t>(e.bits(2)[0]) * 0x1p-58);
}

struct Normal {
  static constexpr const char* name = "normal";
  template <class E>
  RINGCHECK_ON_ANY_DEVICE double operator()(const E& e) const { return normal(e); }
};

struct Spread3 {
  static constexpr const char* name = "spread3";
  template <class E>
  RINGCHECK_ON_ANY_DEVICE double operator()(const E& e) const {
    return normal(e) * (is_score(e.which) ? 1.75 : 1);
  }
};

struct Peaked {
  static constexpr const char* name = "peaked";
  template <class E>
  RINGCHECK_ON_ANY_DEVICE double operator()(const E& e) const {
    return normal(e) * (is_score(e.which) ? 2.5 : 1);
  }
};

struct Flat {
  static constexpr const char* name = "flat";
  template <class E>
  RINGCHECK_ON_ANY_DEVICE double operator()(const E& e) const {
    return normal(e) * (is_score(e.which) ? 0.125 : 1);
  }
};

struct Uniform {
  static constexpr const char* name = "uniform";
  template <class E>
  RINGCHECK_ON_ANY_DEVICE double operator()(const E& e) const {
    return e.which == Which::kDo ? normal(e) : static_cast<double>(e.bits(0)[0] >> 8) / 0x1000000;
  }
};

struct Outliers {
  static constexpr const char* name = "outliers";
  template <class E>
  RINGCHECK_ON_ANY_DEVICE double operator()(const E& e) const {
    return normal(e) * (e.which != Which::kDo && e.bits(1)[0] % 1000 == 0 ? 10 : 1);
  }
};

struct Offset {
  static constexpr const char* name = "offset";
  template <class E>
  RINGCHECK_ON_ANY_DEVICE double operator()(const E& e) const {
    return e.which == Which::kV ? 100 + ::floor(normal(e) * 1024) / 1024 : Spread3()(e);
  }
};

struct Wide {
  static constexpr const char* name = "wide";
  template <class E>
  RINGCHECK_ON_ANY_DEVICE double operator()(const E& e) const {
    const int exponent = static_cast<int>(e.bits(1)[0] % 13) - 6;
    return is_score(e.which) ? Spread3()(e) : ::ldexp(normal(e), exponent);
  }
};

using All = std::tuple<Spread3, Normal, Uniform, Outliers, Peaked, Flat, Offset, Wide>;

}  // namespace ringcheck::parity::independent
