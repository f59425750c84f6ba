// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/tiles/tiling.h"

#include <ATen/core/Tensor.h>

#include <algorithm>

namespace ringcheck::reference {

Tiling tiling_for(const Inputs& in, int64_t threads) {
  if (in.q.is_cpu())
    return {};
  const int64_t shared = in.q.size(1) / in.k.size(1), pairs = in.k.size(0) * in.k.size(1);
  const int64_t seq = in.mask.length, share = (pairs + threads - 1) / threads;
  // Half of the last tile of a causal strip is invisible: short strips, where heads enough fill the GPU.
  const bool many = share * 512 * seq >= 1 << 25;
  const int64_t all_rows = many ? std::clamp<int64_t>(seq / 16 * shared, 512, 2048) : 1024;
  const int64_t rows = std::max<int64_t>(1, all_rows / shared), columns = 1 << 15;
  const int64_t short_enough = std::max<int64_t>(1, (1 << 19) / std::max<int64_t>(1, shared * seq));
  const int64_t tile = shared * std::min(rows, seq) * std::min(columns, seq);
  const int64_t together = std::min(share, short_enough) * tile;
  return {.rows = rows, .columns = columns, .together = std::min<int64_t>(1 << 26, together)};
}

}  // namespace ringcheck::reference
