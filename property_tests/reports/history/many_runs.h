// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "reports/history/run.h"

namespace ringcheck::reports {

// A result as no other number has: so many measurements of ten samples, and so many cases.
Result numbered_result(int number, int measurements, int cases);

// The same as a run of a history.
inline Run numbered_run(int number, int measurements, int cases) {
  return run_of(to_json(numbered_result(number, measurements, cases)));
}

}  // namespace ringcheck::reports
