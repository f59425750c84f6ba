// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/process/folder.h"
#include "cli/process/process.h"
#include "cli/workers/status_file.h"
#include "parity/judge/runner.h"
#include "reports/result.h"

namespace ringcheck::cli {

// How a worker runs: threads of one process, or this many processes under mpirun.
struct Transport {
  std::string mpirun;  // empty: threads
  int ranks = 0;       // of mpirun
  int threads = 0;     // that judge in each worker; 0: one a core
};

// What else a worker is told.
struct Orders {
  std::string planted;  // of SupervisorOptions
  std::string bundles;
  std::string transport;  // between the GPUs of processes
  bool timelines = false, explained = true;
  bool others_test_devices = false;  // another worker of the run does
  std::string deck;  // of its cases, a file
  int32_t taker = 0;  // it is there
};

struct Finished {
  size_t index = 0;  // in the cases of the group
  reports::CaseResult result;
};

// One running group of worker processes and the files through which it speaks. Its end, or that
// of this program, ends every process of it.
class WorkerGroup {
 public:
  WorkerGroup(const Transport& transport, const std::vector<parity::Case>& cases,
              const parity::Judging& judging, const Orders& orders);
  ~WorkerGroup();

  const std::optional<Ended>& poll() { return process_.poll(); }
  std::vector<Finished> take_finished();  // what came since the last call
  uint64_t progress() const;              // changes whenever any rank says anything
  std::vector<RankStatus> ranks() const;
  bool found_nothing_left() const { return status_.read(0).state == RankState::kDone; }
  // Has ranks that wait for a process of another language write where that is to the output.
  void show_stacks() const;
  std::string output() const;  // of all its processes
  void end();

 private:
  TemporaryFolder folder_;
  StatusFile status_;
  Process process_;
  std::streamoff read_ = 0;
};

}  // namespace ringcheck::cli
