// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

#include "parity/case.h"

namespace ringcheck::parity {

// What RMS z and bias of a tensor were over many seeds at one case (its seed set to 0).
struct Chart {
  double rms_mean = 0, rms_sd = 0, bias_mean = 0, bias_sd = 0;
};

// The numerics contract of a kernel, as committed beside its source. Throws BadCase.
nlohmann::json contract_json(const std::string& kernel);

// Its calibration for this case and tensor; nothing at shapes that were not calibrated.
std::optional<Chart> chart_of(const Case& test, const std::string& tensor);

}  // namespace ringcheck::parity
