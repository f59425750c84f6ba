// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cp/attention/rope.h"
#include "reference/mask.h"

namespace ringcheck::parity {

// The question: which attention, of which numbers. Nothing of it says who answers, or where.
struct Task {
  int64_t batch = 1;
  // Tokens of each batch entry, 0 to seq and seq in one of them at least; the slots behind them are
  // pads of that entry. Empty: every entry holds seq.
  std::vector<int64_t> lengths;
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

// Of the whole batch: what is a token, or a visible pair, of some entry.
Mask mask_of(const Task& task);
double scale_of(const Task& task);

// Of one batch entry.
int64_t length_of(const Task& task, int64_t entry);
Mask mask_of(const Task& task, int64_t entry);

// Batch entries that follow each other and have one mask.
struct Entries {
  int64_t first = 0, count = 0;
  Mask mask;
};
std::vector<Entries> entries_of(const Task& task);

// The lengths in a sequence of `seq` slots, which one of them fills: none longer, and none at all where
// all are as long as that.
std::vector<int64_t> lengths_within(std::vector<int64_t> lengths, int64_t seq);

// Throws BadCase where a task cannot have its lengths.
void check_lengths(const Task& task);

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
