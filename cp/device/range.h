// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "cp/operation.h"
#include "cp/registry.h"

namespace ringcheck {

// Who wants to know what a thread is doing. NVTX comes with libringcheck_cuda.so; before that is
// loaded there is none.
struct Profiler {
  std::function<void(const std::string& name)> push;  // of the calling thread; ranges nest
  std::function<void()> pop;
};
using Profilers = Registry<Profiler>;

// A stretch of a thread's work that profilers show under its name, "exchange kv, step 2, peer 1".
class Range {
 public:
  explicit Range(const Operation& operation);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  bool shown_;
};

}  // namespace ringcheck
