// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "cp/worlds/communicator.h"

namespace ringcheck {

struct ThreadWorld {
  int size = 1;
  std::chrono::milliseconds deadline{30000};
  // Told what a rank is about to do; called on that rank's thread.
  std::function<void(int rank, const Operation&)> observer = {};
  at::DeviceType device = at::kCPU;  // ranks take the devices of this kind in turn
  int first_device = 0;              // that of rank 0
  // A receive buffer is filled with NaN until its message is there. Where passes are timed it is not.
  bool fills = true;
};

// Runs `body` on `world.size` ranks, one thread each, with a stream of its own where the device
// has streams: messages are copied on another one, in the order that events give. Receivers own
// their buffers: a receive buffer is filled with NaN when the transfer is posted and gets
// the message only in the receiver's wait(), so a dropped wait or an early reuse shows in every
// run. The first rank that throws wakes every other one and is rethrown here as a RankFailure.
void run(const ThreadWorld& world, const std::function<void(Communicator&)>& body);

// The only rank of a world, on the CPU and on the calling thread.
std::unique_ptr<Communicator> world_of_one(std::chrono::milliseconds deadline);

}  // namespace ringcheck
