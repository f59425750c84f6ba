// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <vector>

namespace ringcheck::cli {

// Calls all of them, a thread each, and returns when every one has. The first exception sets `stopping`, by which
// the others are to end, and is thrown here.
void at_once(const std::vector<std::function<void()>>& players, std::atomic<bool>& stopping);

}  // namespace ringcheck::cli
