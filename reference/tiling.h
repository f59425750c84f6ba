// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/attention.h"

namespace ringcheck::reference {

// Tiles for the device of the inputs. On a GPU they are wide, so that a strip is one tile up to 32K
// keys and its scores are evaluated once, and high enough for the products of two of them to fill it:
// nine arrays of 2^26 elements, 4.5 GiB, are in use at a time.
Tiling tiling_for(const Inputs& inputs);

}  // namespace ringcheck::reference
