// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
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

// Whether what was thrown is for want of memory: an allocation that fails, or a library of the GPU that fails where the driver has next
// to nothing free. cuBLAS and cuDNN have many words for it, as they load code and take workspaces when they are called.
bool is_for_want_of_memory(const std::exception& error, double free_bytes);

// Bytes that the driver of a device has free; where the device has no index, the least of the GPUs that this process uses.
// Infinitely many on the CPU, and where nobody can say.
double free_of_driver(at::Device device);

// What a rank needs at most by the model, where there is one, what its device has free now, and the
// error's own words.
std::string describe(const std::exception& error, const Case& test, int rank,
                     at::Device device, const MemoryModel& model);

// Runs `work` of this rank; throws OutOfMemory where memory is missing in it. What the
// allocator had kept for later is given back, so that the next case finds it.
template <class Work>
auto within_memory(const Case& test, int rank, at::Device device, const MemoryModel& model,
                   const Work& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    if (!is_for_want_of_memory(error, free_of_driver(device))) throw;
    throw OutOfMemory(describe(error, test, rank, device, model));
  }
}

}  // namespace ringcheck::parity
