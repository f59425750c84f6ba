// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/oracle.h"

namespace ringcheck::parity {

std::optional<std::string> Demand::unmet(const Promise& promise) const {
  if (same_bits && !promise.deterministic) return "a subject that promises the same bits";
  if (by_strategy && !promise.by_strategy)
    return "a subject that works by the strategy of the case";
  if (separate_passes && !promise.separate_passes)
    return "a subject whose passes can be called one by one";
  if (autograd && !promise.autograd) return "a subject that is an operation of autograd";
  if (any_layout && !promise.any_layout)
    return "a subject that takes queries and keys cut in any way";
  if (counts_memory && !promise.counts.contains(Promise::Counts::kMemory))
    return "a subject whose memory is counted";
  return std::nullopt;
}

}  // namespace ringcheck::parity
