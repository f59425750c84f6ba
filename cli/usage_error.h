// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace ringcheck::cli {

// What was asked for cannot be: says the value, the limit and the fix. Ends with exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Nothing could run here: says what is missing. Ends with exit code 77.
class NothingRan : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ringcheck::cli
