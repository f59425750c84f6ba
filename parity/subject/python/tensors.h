// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "parity/subject/python/shared_memory.h"

namespace ringcheck::parity {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// Copies tensors into memory, each with its strides, and says where it stands:
// [{"name": "q", "dtype": "bf16", "shape": [...], "strides": [...], "offset": bytes}, ...].
nlohmann::json packed(const NamedTensors& tensors, SharedMemory& memory);

// The same of tensors in host memory, which stay where they are: their offsets are addresses.
nlohmann::json in_place(const NamedTensors& tensors);

// The tensors that such a list names, contiguous ones, on a device; in host memory they are where the other process
// wrote them. Throws std::runtime_error where the list is none, or says what cannot be.
std::map<std::string, at::Tensor> unpacked(const nlohmann::json& list, SharedMemory& memory, at::Device device);
// Copies, of a list whose offsets are addresses of this process.
std::map<std::string, at::Tensor> unpacked(const nlohmann::json& list, at::Device device);

}  // namespace ringcheck::parity
