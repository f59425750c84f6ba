// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>

#include "cp/worlds/session.h"

namespace ringcheck {

// Owns MPI: made first in main, hence destroyed last. Needs no launcher: alone it is world 1.
// Throws std::runtime_error where MPI cannot be loaded.
class MpiSession final : public Session {
 public:
  MpiSession();
  MpiSession(int& argc, char**& argv);  // MPI has no use for them since its second edition

  int rank() const override { return session_->rank(); }
  int size() const override { return session_->size(); }
  std::unique_ptr<Communicator> world(std::chrono::milliseconds deadline) override {
    return session_->world(deadline);
  }
  void end_all(int code) override { session_->abort(code); }

 private:
  std::unique_ptr<Session> session_;
};

}  // namespace ringcheck
