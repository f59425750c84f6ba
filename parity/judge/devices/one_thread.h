// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ringcheck::parity {

// While it lives, LibTorch computes on one thread. It cuts sums and products into as many pieces as
// it has threads, so that their last bits depend on how many: nothing that a Result says may.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// How many may share work that is cut alike whatever their number: OMP_NUM_THREADS, or as many as
// there are cores.
int threads_to_share();

}  // namespace ringcheck::parity
