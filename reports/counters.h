// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "reports/result.h"

namespace ringcheck::reports {

// What a rank counted, by name: "forward.messages", "call.bytes_sent", "kv_bytes", "sent_to.3".
std::vector<std::pair<std::string, int64_t>> counters_of(const RankResult& rank);

}  // namespace ringcheck::reports
