// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cp/attention/rope.h"
#include "reference/mask.h"

namespace ringcheck::parity {

// The question: which attention, of which numbers. Nothing of it says who answers, or where.
struct Task {
  int64_t batch = 1;
  int64_t q_heads = 4;
  int64_t kv_heads = 2;  // q_heads is a multiple of it
  int64_t seq = 256;     // slots of the sequence, the pads of packed documents included
  int64_t dim = 32;      // channels of a query or key head
  int64_t dim_v = 32;    // channels of a value head
  at::ScalarType dtype = at::kBFloat16;
  decltype(Mask::kind) mask = Causal{};
  std::optional<double> scale;  // of the scores q k; default: 1 / sqrt(dim)
  Rope rope;
  std::string data = "spread3";  // a data family, or tensors[FILE.safetensors]
  uint64_t seed = 1;             // of the data
  bool operator==(const Task&) const = default;
};

Mask mask_of(const Task& task);
double scale_of(const Task& task);

// Slots that packed documents take, their pads included.
int64_t slots_of(const Documents& documents);

// Values of a task in text. Each parser throws BadCase.
decltype(Mask::kind) parse_mask(const std::string& text);
std::string mask_text(const decltype(Mask::kind)& mask);
Rope parse_rope(const std::string& text);  // none | half[base] | ...[base,llama3]
std::string rope_text(const Rope& rope);
at::ScalarType parse_dtype(const std::string& text);  // float64 | float32 | bf16 | fp16
std::string dtype_text(at::ScalarType dtype);
int64_t parse_size(const std::string& text);  // 4096, 4K, 1M

}  // namespace ringcheck::parity
