// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/Exception.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "cp/worlds/communicator.h"
#include "parity/case/case.h"

namespace ringcheck::parity {

// A device had no memory left for what a rank of a case asked for.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What a rank needs at most, by somebody's model.
using MemoryModel = std::function<int64_t(const Case&, int rank)>;

// What a rank needs at most by the model, where there is one, what its device has free now, and the
// allocator's own words.
std::string describe(const c10::OutOfMemoryError& error, const Case& test, int rank,
                     at::Device device, const MemoryModel& model);

// Runs `work` of this rank; throws OutOfMemory where an allocation fails in it. What the
// allocator had kept for later is given back, so that the next case finds it.
template <class Work>
auto within_memory(const Case& test, int rank, at::Device device, const MemoryModel& model,
                   const Work& work) {
  try {
    return work();
  } catch (const c10::OutOfMemoryError& error) {
    throw OutOfMemory(describe(error, test, rank, device, model));
  }
}

}  // namespace ringcheck::parity
