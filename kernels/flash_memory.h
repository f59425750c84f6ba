// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cp/attention/attention_kernel.h"

namespace ringcheck {

// What kernel flash allocates for a block that is not empty, by the splitting of LibTorch's kernel: 32,
// 64 or 256 queries against 512 keys, on one thread.
class FlashMemory {
 public:
  FlashMemory(const BlockShape& shape, bool masked);
  int64_t forward() const;   // beside the results
  int64_t backward() const;  // the results among it

 private:
  int64_t mask_bytes(int64_t element, int64_t beside) const;
  int64_t packed_elements() const;

  at::ScalarType dtype_;
  int64_t stored_, wide_;  // bytes of an element, as it is given and in the accumulation type
  int64_t heads_;          // of queries, times batch
  int64_t queries_, keys_, dim_;
  int64_t query_tile_, key_tile_;
  int64_t lines_, q_, k_, repeated_k_;  // elements of LSE, Q, K, K with a head for every query head
  bool turned_, repeats_, masked_, half_;  // half: the causal half of a square
  bool one_head_;
};

}  // namespace ringcheck
