// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/DeviceType.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>

#include "cp/worlds/launcher.h"
#include "cp/worlds/session.h"

namespace ringcheck {

// What a process knows about its job beside what its launcher says.
struct JobOptions {
  int ranks = 0;  // that were asked for; 0 where this process was not told
  std::chrono::milliseconds time_to_meet = kTimeToMeet;  // at a store
};

// The job that this process is a rank of: alone, or one of those that a launcher started. Made first in main, hence destroyed last.
class Job {
 public:
  // Joins it: at a store where the launcher says its place, over MPI where it does not, and as the
  // only rank where there is none. Throws Timeout where a rank does not come to the store in time,
  // std::runtime_error where a library or a variable is missing, or where launcher, MPI and options
  // do not agree on the ranks.
  static std::unique_ptr<Job> join(const std::optional<Launcher>& launcher,
                                   const JobOptions& options = {});

  int rank() const { return host_->rank(); }
  int size() const { return host_->size(); }
  // All ranks, on the CPU or with a GPU each over NCCL, which is joined at its first use. Each call
  // makes a communicator of its own, in which nothing is on its way. Collective.
  std::unique_ptr<Communicator> world(at::DeviceType device, std::chrono::milliseconds deadline);
  // Ends every rank of the job with this exit code.
  [[noreturn]] void abort(int code) {
    host_->abort(code);
    std::terminate();  // it does not return
  }

 private:
  Job(std::unique_ptr<Session> host, int gpu) : host_(std::move(host)), gpu_(gpu) {}

  std::unique_ptr<Session> host_;
  int gpu_ = 0;  // of this rank, on its machine
  std::unique_ptr<Session> gpus_;
};

}  // namespace ringcheck
