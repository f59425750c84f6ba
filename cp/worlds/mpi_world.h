// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "cp/worlds/session.h"

namespace ringcheck {

// Owns MPI: made first in main, hence destroyed last. Needs no launcher: alone it is world 1.
class MpiSession final : public Session {
 public:
  MpiSession(int& argc, char**& argv);
  ~MpiSession() override;
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const override;
  int size() const override;
  std::unique_ptr<Communicator> world(std::chrono::milliseconds deadline) override;
  [[noreturn]] void abort(int code) override;
};

}  // namespace ringcheck
