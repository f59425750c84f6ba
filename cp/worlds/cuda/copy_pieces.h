// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "cp/worlds/transport.h"

namespace ringcheck {

// Copies a message to where it lies at its other end, in as many pieces, by as few calls of a copy engine as there
// can be.
void copy_pieces(void* to, const Pieces& there, const void* from, const Pieces& here, cudaStream_t stream);

}  // namespace ringcheck
