// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "cp/registry.h"

namespace ringcheck {

// By the kind of device: copies a message into its buffer on another device, of as many bytes, both in pieces or
// neither, by a copy engine of the device that it comes from, on the current stream there. False, and nothing is
// done, where that device does not reach the other one's memory.
using PeerCopies = Registry<std::function<bool(const at::Tensor& to, const at::Tensor& from, bool in_pieces)>>;

}  // namespace ringcheck
