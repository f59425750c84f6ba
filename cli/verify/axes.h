// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "parity/case/case.h"

namespace ringcheck::cli {

// One part of a Case as the command line takes it.
struct Axis {
  std::string name;  // the option is --name
  std::string help;
  std::function<void(parity::Case&, const std::string&)> set;  // throws BadCase
  std::function<std::string(const parity::Case&)> get;
};
const std::vector<Axis>& axes();

// What was said for each axis, by its name: values in their text form.
using AxisValues = std::map<std::string, std::vector<std::string>>;

// Splits lists at commas outside brackets. Throws BadCase on an empty value.
std::vector<std::string> split_values(const std::vector<std::string>& lists);

// Every combination of the values, all else as in `base`. What follows from another part where it
// is not said: kv-heads from heads, dim-v from dim, seq from the documents of the mask.
std::vector<parity::Case> product(const AxisValues& values, const parity::Case& base);

// The cases that have, on each axis, one of the values; a name without its brackets stands for
// all of that name. Seed and device replace those of the cases instead. Throws UsageError where a
// value occurs in no case.
std::vector<parity::Case> filtered(std::vector<parity::Case> cases, const AxisValues& values);

}  // namespace ringcheck::cli
