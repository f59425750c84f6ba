// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace ringcheck {

// Calls work(0) to work(count - 1) at once, each on a thread of its own, and returns when all have
// returned; none may throw. The threads stay, and number n gets one that had n before: what libraries
// keep for a thread (cuDNN's plans in LibTorch, handles, memory) is made once and not in every call.
void on_kept_threads(int count, const std::function<void(int)>& work);

}  // namespace ringcheck
