// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "parity/case/part.h"

namespace ringcheck::cli {

// What was said of the parts of a case, by option: values in their text form.
using PartLists = std::map<std::string, std::vector<std::string>>;

// The parts that have an option of their own, in the order in which lists multiply: worlds first.
std::vector<parity::Part> options_of_cases();

// Splits lists at commas outside brackets. Throws BadCase on an empty value.
std::vector<std::string> split_values(const std::string& option,
                                      const std::vector<std::string>& lists);

// Every combination of the values, all else as in `base`. What follows from another part where it
// is not said: kv-heads from heads, dim-v from dim, seq from the documents of the mask.
std::vector<parity::Case> product(const PartLists& values, const parity::Case& base);

// The cases that have, in each part, one of the values; a name without its brackets stands for
// all of that name. Seed and subject replace those of the cases instead. Throws UsageError where a
// value occurs in no case.
std::vector<parity::Case> filtered(std::vector<parity::Case> cases, const PartLists& values);

}  // namespace ringcheck::cli
