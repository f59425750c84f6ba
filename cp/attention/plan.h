// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cp/attention/attention_kernel.h"
#include "cp/attention/rotation.h"
#include "cp/layout/lengths.h"

namespace ringcheck {

// What every rank agrees on before a pass: everything that varies is a value.
struct Plan {
  Layout layout;
  Scores scores;
  std::shared_ptr<const AttentionKernel> kernel;
  std::string arguments = {};  // of the strategy, canonical: ":p2p" of "ring:p2p"
  Merge merge = merge_to;
  RotationOf rotation_of = Rotations::at;  // of strategies that have one
  // Of a padded batch; none of them is above that of the mask.
  Lengths lengths = {};
  // What the mask shows of the blocks that this rank meets, by length; ContextParallel keeps it from
  // pass to pass. Without it every strategy makes its own.
  std::shared_ptr<std::map<int64_t, Visibilities>> visibilities = {};
  // What a complete gradient of q or k, in slots at these positions, is of the input: rotated back,
  // then rounded once. From ContextParallel.
  std::function<at::Tensor(const at::Tensor& gradient, const Positions&, at::ScalarType dtype)>
      finished = {};
};

}  // namespace ringcheck
