// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/attention.h"

namespace ringcheck::reference {

// Tiles for the device of the inputs, where so many of its kind share the work. On a GPU a strip is
// one tile up to 32K keys, so that its scores are evaluated once, and four such tiles are taken
// together, which fill the device, but no more than leave something for the other devices, and than
// have half a million queries. Nine arrays of 2^27 elements, 9 GiB, are then in use at a time, and
// others with a row a query.
Tiling tiling_for(const Inputs& inputs, int64_t devices = 1);

}  // namespace ringcheck::reference
