// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cp/worlds/thread_world.h"
#include "parity/subject/outcome.h"

namespace ringcheck::parity {

// Where a subject runs. A subject that answers for all ranks is asked once, on rank 0.
class World {
 public:
  virtual ~World() = default;
  // Runs the subject on the ranks of the case and brings everything to rank 0; nothing on the
  // others. Collective. Throws RankFailure where a rank failed and the others ended with it; any
  // other exception is that of this process, whose job must end.
  virtual std::optional<Outcome> solve(const Run& run, const Subject& subject) = 0;
  // Why its ranks cannot run such a case; nothing where they can.
  virtual std::optional<std::string> refuses(const Case&) const { return std::nullopt; }
  // Whether outcomes come to this process.
  virtual bool is_first() const { return true; }
};

// Told what a rank is about to do, on that rank's thread.
using Observer = std::function<void(int rank, const Operation&)>;

// Threads of this process, as many as a case says, on the devices that it says.
class ThreadRanks final : public World {
 public:
  explicit ThreadRanks(std::chrono::milliseconds deadline, Observer observer = {})
      : deadline_(deadline), observer_(std::move(observer)) {}
  std::optional<Outcome> solve(const Run& run, const Subject& subject) override;

 private:
  std::chrono::milliseconds deadline_;
  Observer observer_;
};

// The processes of this job, of which this is one, a rank each: `connect` makes a communicator of
// all of them for a case, `lacks` says what they lack for one.
class ProcessRanks final : public World {
 public:
  using Connect = std::function<std::shared_ptr<Communicator>(const Case&)>;
  using Lacks = std::function<std::optional<std::string>(const Case&)>;
  ProcessRanks(int rank, Connect connect, Observer observer = {}, Lacks lacks = {})
      : rank_(rank), connect_(std::move(connect)), observer_(std::move(observer)), lacks_(std::move(lacks)) {}
  // On the ranks of one communicator, whatever the case; it must outlive this.
  explicit ProcessRanks(Communicator& ranks);
  std::optional<Outcome> solve(const Run& run, const Subject& subject) override;
  std::optional<std::string> refuses(const Case& test) const override { return lacks_ ? lacks_(test) : std::nullopt; }
  bool is_first() const override { return rank_ == 0; }

 private:
  int rank_;
  Connect connect_;
  Observer observer_;
  Lacks lacks_;
};

// One run on threads of this process.
Outcome solve_on_threads(const Run& run, const Subject& subject,
                         std::chrono::milliseconds deadline = std::chrono::seconds(30));

// The threads of a case, for whoever runs something else on them than a subject.
ThreadWorld threads_of(const Case& test, std::chrono::milliseconds deadline, Observer observer = {},
                       int first_device = 0);

}  // namespace ringcheck::parity
