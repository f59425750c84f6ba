// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <optional>

namespace ringcheck::parity {

// A stream of a device beside the one that computes there: neither waits for the other. On a CPU,
// which has none, it is nothing.
class Side {
 public:
  explicit Side(at::Device device) {
    if (!device.is_cpu())
      stream_ = c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
  }

  // The result of the work, which is queued here.
  template <class Work>
  auto operator()(const Work& work) const {
    std::optional<c10::StreamGuard> here;
    if (stream_) here.emplace(*stream_);
    return work();
  }

 private:
  std::optional<c10::Stream> stream_;
};

}  // namespace ringcheck::parity
