// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/session.h"

#include <stdexcept>

#include "cp/device/cuda_library.h"

namespace ringcheck {

std::unique_ptr<Session> on_gpus(Session& host, int local_rank) {
  if (why_no_cuda()) throw std::runtime_error(*why_no_cuda());
  return GpuWorlds::at("nccl").over(host, local_rank);
}

}  // namespace ringcheck
