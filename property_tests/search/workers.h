// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

#include "cp/worlds/job.h"
#include "parity/judge/runner.h"

namespace ringcheck::search {

// What runs, and how long it may be silent.
struct Conduct {
  parity::SharedSubject subject = parity::ours();
  std::chrono::milliseconds deadline{10000};  // of one wait of a rank
  std::chrono::milliseconds give_up{40000};   // for a rank that does not come back at all
  parity::Judging judging = {};
};

// The world cannot be made anew: nothing more can run here.
class WorldLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Run the cases of a search, each on a world of its own.
class Workers {
 public:
  virtual ~Workers() = default;
  virtual int most_ranks() const = 0;
  virtual std::string world_kind() const = 0;  // as a case says it
  // A verdict, also of a case in which a rank fails or hangs. Throws WorldLost.
  virtual parity::Verdict run(const parity::Case& test) = 0;
  // Whether a case never came back: then this process must end by quick_exit.
  virtual bool left_behind() const = 0;
};

// Threads of this process. Threads that do not come back are left behind, and a new world begins.
std::unique_ptr<Workers> thread_workers(const Conduct& conduct, int most_ranks);

// The processes of a job. Rank 0 has the search; the others serve() until its workers are gone.
// A case runs on the first ranks; what a rank threw is a verdict on which all agree; after a
// hang its communicator is left alone and the next case gets a new one.
std::unique_ptr<Workers> job_workers(Job& job, const Conduct& conduct);
void serve(Job& job, const Conduct& conduct);

}  // namespace ringcheck::search
