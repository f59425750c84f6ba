// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "cp/worlds/communicator.h"

namespace ringcheck::bench {

// What a device did in a pass, by the clock of devices, from when the first of those of this process began until
// the last one was done. Every instant counts once: as attention where a kernel of it was at work, else as a
// transfer where one was under way between any devices of this process, else as another kernel or copy, else as idle. Seconds.
struct Timeline {
  double seconds = 0, attention = 0, transfers = 0, others = 0, idle = 0;
};

// Records all that the devices do in `pass`, which ends when they are done, and writes it into `file`, which
// chrome://tracing and Perfetto show. Threads of a process are recorded by the one that `records`; of several
// ranks that do, what the one with the longest pass has seen. Where the ranks are threads it counts the device
// of rank 0. Collective.
Timeline timeline_of(Communicator& comm, bool records, const std::function<void()>& pass, const std::string& file);

}  // namespace ringcheck::bench
