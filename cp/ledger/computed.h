// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ringcheck {

// A kernel says, on the thread that called it, how many (query, key) pairs it computes, hidden ones
// included, times batch and query heads.
void add_computed(int64_t pairs);

// What the kernels of this thread have said since this was last asked.
int64_t take_computed();

}  // namespace ringcheck
