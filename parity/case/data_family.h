// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "cp/registry.h"
#include "parity/case/case.h"
#include "parity/case/data/element.h"

namespace ringcheck::parity {

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

// Whether the data are tensors of the user's own, "tensors[FILE]", of which no family makes any.
bool has_own_tensors(const Task& test);

// Why a family without rotated keys cannot take the case, or nothing.
std::optional<std::string> refuses_rope(const Task& test);

}  // namespace ringcheck::parity
