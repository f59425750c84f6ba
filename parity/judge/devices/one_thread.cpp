// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/devices/one_thread.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <thread>

namespace ringcheck::parity {

OneThread::OneThread() : before_(at::get_num_threads()) { at::set_num_threads(1); }
OneThread::~OneThread() { at::set_num_threads(before_); }

int threads_to_share() {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());  // 0: not known
  const int wanted = std::max(1, at::intraop_default_num_threads());
  return cores > 0 ? std::min(wanted, cores) : wanted;
}

}  // namespace ringcheck::parity
