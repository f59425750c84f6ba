// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "cp/registry.h"
#include "cp/worlds/communicator.h"

namespace ringcheck {

// How long the ranks of a job may take to find each other.
inline constexpr std::chrono::seconds kTimeToMeet{60};

// The processes of one job, a rank each, as one of them sees it.
class Session {
 public:
  virtual ~Session() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // All ranks. Each call makes a communicator of its own, in which nothing is on its way.
  virtual std::unique_ptr<Communicator> world(std::chrono::milliseconds deadline) = 0;
  // Ends every rank of the job with this exit code.
  [[noreturn]] void abort(int code) {
    end_all(code);
    std::terminate();  // it did not
  }

 protected:
  virtual void end_all(int code) = 0;
};

// How the processes of a job find each other: "mpi", which libringcheck_mpi.so brings, "store".
// Throws std::runtime_error where they do not.
struct Meeting {
  std::function<std::unique_ptr<Session>(std::chrono::milliseconds time_to_meet)> join;
};
using Meetings = Registry<Meeting>;

// What carries messages between the GPUs of processes: "nccl", with a GPU of its own for each rank;
// "ipc", which copies between the memories of processes of one host, that may share GPUs.
inline constexpr std::array kGpuTransports{"nccl", "ipc"};
inline constexpr const char* kUsualGpuTransport = kGpuTransports[0];

// The same ranks on GPUs; what lies in host memory still goes the way of `host`, which must outlive it.
// Throws std::runtime_error on every rank, with the reason of one, where a rank finds no GPU or the
// transport cannot be used here. Binds the calling thread to the GPU as long as it lives. Collective.
std::unique_ptr<Session> on_gpus(Session& host, int local_rank, const std::string& transport);

// Who makes them, by transport; libringcheck_cuda.so brings them.
struct GpuWorld {
  std::function<std::unique_ptr<Session>(Session& host, int local_rank)> over;
};
using GpuWorlds = Registry<GpuWorld>;

}  // namespace ringcheck
