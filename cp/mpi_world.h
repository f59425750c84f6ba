// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "cp/communicator.h"

namespace ringcheck {

// Owns MPI: made first in main, hence destroyed last. Needs no launcher: alone it is world 1.
class MpiSession {
 public:
  MpiSession(int& argc, char**& argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const;
  int size() const;
  // All ranks, a process each.
  std::unique_ptr<Communicator> world(std::chrono::milliseconds deadline);
  // Ends every rank of the job with this exit code. Does not return.
  [[noreturn]] static void abort(int code);
};

}  // namespace ringcheck
