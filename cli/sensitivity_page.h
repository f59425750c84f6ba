// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "parity/sensitivity.h"

namespace ringcheck::cli {

// Limits of detection as tables, one a dtype: a row for every place of an error, a column for every
// detector. "inf": no error of up to 100 is seen; "-": the detector does not look there.
std::string console_text(const std::vector<parity::Limit>& limits);
std::string markdown_text(const std::vector<parity::Limit>& limits);
nlohmann::json to_json(const std::vector<parity::Limit>& limits);

}  // namespace ringcheck::cli
