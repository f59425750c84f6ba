// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/intrusive_ptr.h>

#include "cp/worlds/session.h"

namespace c10d {
class Store;
}

namespace ringcheck {

// A job whose ranks have the variables of torch.distributed: they meet at MASTER_ADDR:MASTER_PORT and
// pass messages through the key-value store there. Meant for what is small: sizes, verdicts, the id of an NCCL
// communicator. Throws std::runtime_error where the variables make no sense or rank 0 cannot keep the
// store, and Timeout where a rank does not come in time.
class StoreSession final : public Session {
 public:
  explicit StoreSession(std::chrono::milliseconds time_to_meet = kTimeToMeet);
  ~StoreSession() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::unique_ptr<Communicator> world(std::chrono::milliseconds deadline) override;
  void end_all(int code) override;

 private:
  int rank_ = 0, size_ = 1, worlds_ = 0;
  std::string keys_;  // what those of this job begin with
  c10::intrusive_ptr<c10d::Store> store_;
};

}  // namespace ringcheck
