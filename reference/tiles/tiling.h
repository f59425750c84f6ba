// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/attention.h"

namespace ringcheck::reference {

// Tiles for the device of the inputs, where so many threads share the work. On a GPU a strip is
// one tile up to 32K keys, so that its scores are computed once for both passes, and two such
// tiles are taken together, which fill the device, but no more than leave something for the
// other threads, and than have half a million queries. Nine arrays of 2^26 elements, 4.5 GiB,
// are then in use at a time by a thread, and others with a row a query.
Tiling tiling_for(const Inputs& inputs, int64_t threads = 1);

}  // namespace ringcheck::reference
