// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/attention.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <vector>

#include "reference/tiles/group.h"
#include "reference/solve.h"
#include "reference/tiles/tiles.h"

namespace ringcheck::reference {

Tensors attention(const Inputs& inputs, const Tiling& tiling) {
  const at::AutoDispatchBelowADInplaceOrView values_only;
  check(inputs);
  const at::Device device = inputs.q.device();
  const Tiles mask_tiles = tiles(key_runs(inputs.mask), tiling, device);
  std::vector<Tensors> parts;
  for (const Range run : runs_of_pairs(inputs, tiling)) {
    const Solution part = solve(grouped(inputs, run, device), mask_tiles, tiling.tick);
    parts.push_back({part.o, part.lse, part.dq, part.dk, part.dv});
  }
  return ungrouped(parts, inputs);
}

}  // namespace ringcheck::reference
