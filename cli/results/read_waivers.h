// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/waivers.h"

namespace ringcheck::cli {

// As of today, in UTC. Throws UsageError.
reports::Waivers read_waivers(const std::string& path);

}  // namespace ringcheck::cli
