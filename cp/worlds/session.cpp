// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/session.h"

#include "cp/device/cuda_library.h"
#include "cp/worlds/share.h"

namespace ringcheck {

std::unique_ptr<Session> on_gpus(Session& host, int local_rank, const std::string& transport) {
  refuse_together(*host.world(kTimeToMeet), why_no_cuda());
  return GpuWorlds::at(transport).over(host, local_rank);
}

}  // namespace ringcheck
