// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/attention.h"

namespace ringcheck::reference {

// Tiles for the device of the inputs, where so many of its kind share the work. On a GPU they are
// wide, so that a strip is one tile up to 32K keys and its scores are evaluated once, and four of them
// are taken together where every device still has some: its products need as many to fill it. Nine
// arrays of 2^27 elements, 9 GiB, are in use at a time.
Tiling tiling_for(const Inputs& inputs, int64_t devices = 1);

}  // namespace ringcheck::reference
