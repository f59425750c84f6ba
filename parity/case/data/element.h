// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#ifdef __CUDACC__
#define RINGCHECK_ON_ANY_DEVICE __host__ __device__
#else
#define RINGCHECK_ON_ANY_DEVICE
#endif

namespace ringcheck::parity {

// The tensors of a problem.
enum class Which : uint32_t { kQ, kK, kV, kDo };
constexpr bool is_score(Which which) { return which == Which::kQ || which == Which::kK; }

// One number of a problem: what its value may depend on, beside the mask. Neither the world nor
// the sharding, threads or machine are among it.
struct Element {
  uint64_t seed;
  Which which;
  uint32_t batch, head, channel;
  uint64_t position;  // global

  // 128 random bits a draw (Philox, Salmon et al. 2011); draws 0 to 15.
  std::array<uint32_t, 4> bits(uint32_t draw) const;
  // The element that stands for all positions.
  Element of_all_positions() const;

  // What the generator makes the bits of: its counter and its key.
  RINGCHECK_ON_ANY_DEVICE std::array<uint32_t, 4> counter(uint32_t draw) const {
    return {channel | static_cast<uint32_t>(which) << 24 | draw << 28, head | batch << 16,
            static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32)};
  }
  RINGCHECK_ON_ANY_DEVICE std::array<uint32_t, 2> key() const {
    return {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  }
};

}  // namespace ringcheck::parity
