// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cp/device/moment.h"

namespace ringcheck {

// As OnDevice, but the streams are those of a number, the same whenever a thread takes it: LibTorch
// keeps freed memory for the stream that had it, and asks the driver for more on any other.
class OnLane {
 public:
  OnLane(at::Device device, int lane);

 private:
  OnDevice current_;  // gives back what was current before
};

}  // namespace ringcheck
