// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

struct CUstream_st;  // *cudaStream_t

// Float64 attention in one kernel, on double-precision tensor cores. All arrays are dense, in the memory of the current device, and
// aligned to 16 bytes. The launches are asynchronous on the stream; a failed
// launch throws std::runtime_error. The same inputs give the same bits.
namespace ringcheck::reference {

struct FusedSizes {
  int64_t pairs = 0;   // (batch, kv head)
  int64_t shared = 0;  // query heads that share the keys of a pair
  int64_t seq = 0;
  int64_t dim = 0;    // of q and k
  int64_t dim_v = 0;  // of v and o
};

// Does the current device compute these sizes?
bool fused_supports(const FusedSizes& sizes);

// The score of query i and key j is scale * <q_i, k_j>, with scale > 0. Query i
// sees the keys begin[i] <= j < end[i], none where begin[i] >= end[i].
struct FusedInputs {
  FusedSizes sizes;
  double scale = 1;
  const double* q = nullptr;       // [pairs, shared, seq, dim]
  const double* k = nullptr;       // [pairs, seq, dim]
  const double* v = nullptr;       // [pairs, seq, dim_v]
  const int32_t* begin = nullptr;  // [seq]
  const int32_t* end = nullptr;    // [seq]
};

// max is a query's largest score, sum that of e^(score - max); all zero where
// it sees no key.
struct FusedOutputs {
  double* o = nullptr;    // [pairs, shared, seq, dim_v]
  double* max = nullptr;  // [pairs, shared, seq]
  double* sum = nullptr;  // [pairs, shared, seq]
};
void fused_forward(const FusedInputs& inputs, const FusedOutputs& outputs, CUstream_st* stream);

}  // namespace ringcheck::reference
