// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

#include "reports/history/history.h"

namespace ringcheck::reports {

// What the dashboard shows of the newest `last` runs, or of all where that is 0: docs/dashboard.md.
nlohmann::json dashboard_data(History& history, int64_t last);

// One HTML file with everything in it: the data, our page, and D3.
std::string dashboard_page(const nlohmann::json& data);

}  // namespace ringcheck::reports
