// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "cp/registry.h"
#include "parity/case/case.h"

namespace ringcheck::parity {

// The tensors of a problem.
enum class Which : uint32_t { kQ, kK, kV, kDo };
inline bool is_score(Which which) { return which == Which::kQ || which == Which::kK; }

// One number of a problem: what its value may depend on, beside the mask. Neither the world nor
// the sharding, threads or machine are among it.
struct Element {
  uint64_t seed;
  Which which;
  uint32_t batch, head, channel;
  uint64_t position;  // global

  // 128 random bits a draw (Philox, Salmon et al. 2011); draws 0 to 15.
  std::array<uint32_t, 4> bits(uint32_t draw) const;
  // The element that stands for all positions.
  Element of_all_positions() const;
};

// Nearly normal, standard deviation 1.02, at most 21 significant bits; draw 0.
double normal(const Element& e);

// A float64 has more bits than the draws fill: they are filled up, by a relative 2^-27 at most, from
// draw 2. Other dtypes get `value` as it is.
double filled(double value, const Element& e, at::ScalarType dtype);

// How the numbers of a problem are distributed. Made of integers, exact operations and rounded
// + - x / alone, so that every machine makes the same. Adding one: a file in parity/case/data.
struct DataFamily {
  std::string says;
  // Writes the channels of one token; `first` is its channel 0.
  std::function<void(const Task& test, Element first, std::span<double> row)> fill;
  // Why there is no such data for a case, or nothing.
  std::function<std::optional<std::string>(const Task&)> refuses = [](const Task&) {
    return std::optional<std::string>();
  };
  // The scores of a row are rounded independently, as sigma assumes: not where the keys are the same.
  bool independent = true;
  // Tensors whose truth may be zero, or the difference of equal numbers: where a zero would pass,
  // `parity` says nothing about them.
  std::set<std::string> silent = {};
};
using DataFamilies = Registry<DataFamily>;

// Why a family without rotated keys cannot take the case, or nothing.
std::optional<std::string> refuses_rope(const Task& test);

}  // namespace ringcheck::parity
