// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace ringcheck::fuzz {

// From now on the peak is that of this thread above what it has now.
void begin_heap_peak();
size_t heap_peak();  // bytes

}  // namespace ringcheck::fuzz
