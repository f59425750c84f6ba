// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <optional>

#include "cp/device/moment.h"

namespace ringcheck {

// A stream of its own for what may go on beside the computation; on the CPU it is done at once.
class Beside {
 public:
  explicit Beside(at::Device device) : device_(device) {
    if (has_streams(device))
      stream_ = c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device, /*isHighPriority=*/true);
  }

  // What it is given comes after `begin` there.
  template <class Work>
  void after(const Moment& begin, const Work& work) const {
    if (!stream_) return work();
    const c10::StreamGuard there(*stream_);
    begin.hold_back(device_);
    work();
  }
  // What the current stream gets from now on comes after all of it.
  void join() const {
    if (!stream_) return;
    Moment done;
    {
      const c10::StreamGuard there(*stream_);
      done = Moment::now(device_);
    }
    done.hold_back(device_);
  }

 private:
  at::Device device_;
  std::optional<c10::Stream> stream_;
};

}  // namespace ringcheck
