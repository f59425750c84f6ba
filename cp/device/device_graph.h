// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "cp/registry.h"

namespace ringcheck {

// Work that was queued on a device once and is kept, to be queued again by one call of its host: with
// CUDA a CUDA graph. Every replay reads and writes the same memory.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
  virtual void replay() = 0;  // on the calling thread's current stream
};

// By the kind of device: keeps what `work` queues on the current stream of the calling thread's device, and
// on streams that wait for it, instead of doing it. A tensor that `work` makes has memory of the graph: its
// values are there after a replay, while both exist. Throws c10::Error where `work` waits for the device.
using DeviceGraphs = Registry<std::function<std::unique_ptr<DeviceGraph>(const std::function<void()>& work)>>;

}  // namespace ringcheck
