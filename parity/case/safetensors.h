// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

namespace ringcheck::parity {

// The content of a safetensors file: 8 bytes of little-endian header length, a JSON header, data.
struct Safetensors {
  std::map<std::string, at::Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

// Throws BadCase that names the file, what is wrong with it and the fix: missing, truncated, not
// JSON, a dtype other than F64, F32, F16, BF16, I64, offsets that overlap or leave the file.
Safetensors read_safetensors(const std::string& path);

// Writes to a temporary file beside it, then renames.
void write_safetensors(const std::string& path, const Safetensors& content);

}  // namespace ringcheck::parity
