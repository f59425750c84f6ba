// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace ringcheck::reports {

// A history cannot be used as it was asked: says which file, why, and what to do.
class BadHistory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ringcheck::reports
