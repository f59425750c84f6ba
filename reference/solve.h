// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "reference/tiles/group.h"
#include "reference/tiles/tiles.h"

namespace ringcheck::reference {

// Attention of a group and its gradients, with the halves of the logsumexp: lse = max + log(sum),
// in natural logarithms, max being a row's largest scaled score. A query that sees no key has
// max = sum = 0 and lse = -inf. All in float64.
struct Solution {
  at::Tensor o;      // [pairs, shared, seq, dim_v]
  at::Tensor max;    // [pairs, shared, seq]
  at::Tensor sum;    // [pairs, shared, seq]
  at::Tensor lse;    // [pairs, shared, seq]
  at::Tensor delta;  // [pairs, shared, seq], the sum over channels of dO * O: D of
                     // FlashAttention-2 (Dao 2023, section 3.1)
  at::Tensor dq;     // [pairs, shared, seq, dim]
  at::Tensor dk;     // [pairs, seq, dim]
  at::Tensor dv;     // [pairs, seq, dim_v]
};

// Two sweeps over the tiles of a strip for max and sum, a third for the gradients. `tick` is called as Tiling says.
Solution solve(const Group& group, const Tiles& tiles, const std::function<void()>& tick);

// The same without gradients, which are undefined: by a fast path where one applies (reference/tiles/fast_path.h).
Solution attend(const Group& group, const Tiles& tiles, const std::function<void()>& tick);
Solution attend_plainly(const Group& group, const Tiles& tiles, const std::function<void()>& tick);

// An o and an lse, whoever computed them, as attend() gives them: max is the lse and sum is 1, but 0 for a
// query that sees no key.
Solution as_attended(const Group& group, const Tiles& tiles, const at::Tensor& o, const at::Tensor& lse);

}  // namespace ringcheck::reference
