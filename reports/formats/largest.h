// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "reports/result.h"

namespace ringcheck::reports {

// The largest figures of tensors; NaN is larger than everything. What was measured and held to nothing does not count, and of
// what did not pass no blind share does.
struct Largest {
  std::optional<double> error, sigmas, blind;  // over its bound; in standard deviations; share. None: nothing counts
  // Whether this error is the largest so far.
  bool add(const TensorResult& tensor);
};

}  // namespace ringcheck::reports
