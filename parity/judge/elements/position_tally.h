// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "parity/judge/tally.h"

#ifdef __FAST_MATH__
#error "a comparison compiled with fast-math lets NaN through"
#endif

#ifdef __CUDACC__
#define RINGCHECK_ON_ANY_DEVICE __host__ __device__
#else
#define RINGCHECK_ON_ANY_DEVICE
#endif

namespace ringcheck::parity {

// Part of a tensor beside its truth, on one device: [rows, slots, channels], dense; rows are heads.
struct Elements {
  const double *actual = nullptr, *value = nullptr, *bound = nullptr, *sigma = nullptr;
  int64_t rows = 0, slots = 0, channels = 1;

  RINGCHECK_ON_ANY_DEVICE int64_t flat(int64_t row, int64_t slot, int64_t channel) const {
    return (row * slots + slot) * channels + channel;
  }
};

// What the elements of one slot say together, as a CPU and a GPU add them up. Equal infinities differ
// by nothing; a NaN differs infinitely.
struct PositionTally {
  double compared = 0;   // elements, whether an error is allowed or not
  double elements = 0;   // of the statistics: where an error is allowed
  double signed_z = 0;   // z sign(value)
  double energy = 0;     // value^2
  double vacuous = 0;    // value^2 where a zero would pass
  double z_squares = 0;
  double error_squares = 0, value_squares = 0;  // without what is infinite
  double max_abs = 0, hard_ratio = 0, max_z = 0;
  int64_t hard_at = -1, stat_at = -1;  // the first element of the largest ratio, and of max_z

  RINGCHECK_ON_ANY_DEVICE static double infinite_if_nan(double x) { return x == x ? x : INFINITY; }

  RINGCHECK_ON_ANY_DEVICE void add(const Elements& all, int64_t i) {
    const double value = all.value[i], sigma = all.sigma[i], off = all.actual[i] - value;
    const double error = all.actual[i] == value ? 0 : ::fabs(off);
    ++compared;
    if (error != INFINITY) error_squares += error * error;
    if (::fabs(value) != INFINITY) value_squares += value * value;
    take_larger(max_abs, infinite_if_nan(error));
    // 0 / 0 is no error; anything over 0 is infinitely too much, as is NaN.
    const double ratio = error == 0 ? 0 : infinite_if_nan(error / all.bound[i]);
    if (ratio > hard_ratio) hard_ratio = ratio, hard_at = i;
    if (!(sigma > 0)) return;

    const double z = off / sigma, size = infinite_if_nan(::fabs(z));
    ++elements;
    z_squares += size * size;
    signed_z += z * ((value > 0) - (value < 0));
    energy += value * value;
    if (!(::fabs(value) > sigma * kStat)) vacuous += value * value;
    if (size > max_z) max_z = size, stat_at = i;
  }

  RINGCHECK_ON_ANY_DEVICE void add(const PositionTally& other) {
    compared += other.compared;
    elements += other.elements;
    signed_z += other.signed_z;
    energy += other.energy;
    vacuous += other.vacuous;
    z_squares += other.z_squares;
    error_squares += other.error_squares;
    value_squares += other.value_squares;
    take_larger(max_abs, other.max_abs);
    take_larger(hard_ratio, hard_at, other.hard_ratio, other.hard_at);
    take_larger(max_z, stat_at, other.max_z, other.stat_at);
  }

 private:
  RINGCHECK_ON_ANY_DEVICE static void take_larger(double& largest, double other) {
    if (other > largest) largest = other;
  }
  RINGCHECK_ON_ANY_DEVICE static void take_larger(double& largest, int64_t& at, double other,
                                                  int64_t there) {
    if (other > largest || (other == largest && there >= 0 && there < at)) largest = other, at = there;
  }
};

}  // namespace ringcheck::parity
