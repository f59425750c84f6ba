// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/job.h"

#include <cstdlib>
#include <stdexcept>

#include "cp/worlds/mpi_library.h"
#include "cp/worlds/thread_world.h"

namespace ringcheck {
namespace {

// A process that nobody started beside others.
class Alone final : public Session {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::unique_ptr<Communicator> world(std::chrono::milliseconds deadline) override {
    return world_of_one(deadline);
  }
  void end_all(int code) override { std::_Exit(code); }
};

std::unique_ptr<Session> session_of(const std::optional<Launcher>& launcher,
                                    const JobOptions& options) {
  if (!launcher) return std::make_unique<Alone>();
  const bool by_store = !launcher->place.empty();
  if (!by_store && why_no_mpi()) throw std::runtime_error(*why_no_mpi());
  return Meetings::at(by_store ? "store" : "mpi").join(options.time_to_meet);
}

std::string asked_for(int ranks, int found) {
  return "mpirun was asked for " + std::to_string(ranks) + " ranks, but MPI says " +
         std::to_string(found) +
         ": mpirun belongs to another MPI than the one that ringcheck loads (" +
         "libringcheck_mpi.so); put the right one first in PATH";
}

}  // namespace

std::unique_ptr<Job> Job::join(const std::optional<Launcher>& launcher,
                               const JobOptions& options) {
  std::unique_ptr<Session> host = session_of(launcher, options);
  if (options.ranks > 0 && options.ranks != host->size())
    throw std::runtime_error(asked_for(options.ranks, host->size()));
  if (launcher)
    if (const auto wrong = mismatch(*launcher, host->rank(), host->size()))
      throw std::runtime_error(*wrong);
  // On one machine ranks and GPUs are numbered alike.
  const int gpu = launcher && launcher->local_rank >= 0 ? launcher->local_rank : host->rank();
  return std::unique_ptr<Job>(new Job(std::move(host), gpu));
}

std::unique_ptr<Communicator> Job::world(at::DeviceType device, std::chrono::milliseconds deadline,
                                         const std::string& transport) {
  return device == at::kCPU ? host_->world(deadline) : gpus_over(transport).world(deadline);
}

Session& Job::gpus_over(const std::string& transport) {
  for (const auto& [name, session] : gpus_)
    if (name == transport) return *session;
  gpus_.emplace_back(transport, on_gpus(*host_, gpu_, transport));
  return *gpus_.back().second;
}

// Each gives the calling thread back the streams that it had before.
Job::~Job() {
  while (!gpus_.empty()) gpus_.pop_back();
}

}  // namespace ringcheck
