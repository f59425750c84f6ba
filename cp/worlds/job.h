// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/DeviceType.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  ~Job();
  // All ranks, on the CPU or on GPUs, over a transport that is joined at its first use (on_gpus()). Each
  // call makes a communicator of its own, in which nothing is on its way. Collective.
  std::unique_ptr<Communicator> world(at::DeviceType device, std::chrono::milliseconds deadline,
                                      const std::string& transport = kUsualGpuTransport);
  // Joins it now, so that what speaks against it is known before anything is computed. Collective.
  void join_gpus(const std::string& transport) { gpus_over(transport); }
  // Ends every rank of the job with this exit code.
  [[noreturn]] void abort(int code) { host_->abort(code); }

 private:
  Job(std::unique_ptr<Session> host, int gpu) : host_(std::move(host)), gpu_(gpu) {}
  Session& gpus_over(const std::string& transport);

  std::unique_ptr<Session> host_;
  int gpu_ = 0;  // of this rank, on its machine
  std::vector<std::pair<std::string, std::unique_ptr<Session>>> gpus_;  // by transport, as they were joined
};

}  // namespace ringcheck
