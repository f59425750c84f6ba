// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

#include "cp/device/moment.h"

namespace ringcheck {

// How long who waits for a GPU, or for a rank that computes on one, stays awake: being woken takes some
// 0.07 ms, which a short pass would feel.
std::chrono::milliseconds awake();

// Not at all from now on, in this process: others have work for its cores. Nor does LibTorch where it waits
// for a GPU. To be called before a GPU is used.
void sleep_while_waiting();

// Between two looks of who has waited this long.
void rest(std::chrono::nanoseconds waited);

// Polls until the moment has passed. Throws Timeout at the deadline, and whatever `meanwhile`
// throws, which is called between two looks.
void await(const Moment& moment, std::chrono::milliseconds deadline,
           const std::function<void()>& meanwhile = [] {});

}  // namespace ringcheck
