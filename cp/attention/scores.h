// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/mask.h"

namespace ringcheck {

// What becomes of q k before the softmax: scale * q k where the mask shows the pair. One value, so
// that what changes a score beside these is one more member.
struct Scores {
  Mask mask;
  double scale = 1;
  bool operator==(const Scores&) const = default;
};

}  // namespace ringcheck
