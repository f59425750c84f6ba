// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "parity/subject/ours.h"

namespace ringcheck {

// Ours with a kernel in place of its own, which that may call, and with a promise that is changed.
inline parity::SharedSubject ours_with_kernel(
    std::function<std::shared_ptr<const AttentionKernel>(const std::shared_ptr<const AttentionKernel>& own)> kernel,
    std::function<void(parity::Promise&)> change) {
  return parity::ours_with(
      [kernel = std::move(kernel)](Communicator& comm, const parity::Case& test, const parity::RankInput& input) {
        ContextParallel::Options parts = parity::options_of(test);
        parts.plan.kernel = kernel(parts.plan.kernel);
        return parity::context_parallel_with(parts, comm, test, input);
      },
      std::move(change));
}

}  // namespace ringcheck
