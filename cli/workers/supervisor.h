// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cp/worlds/session.h"
#include "parity/judge/runner.h"
#include "reports/result.h"

namespace ringcheck::cli {

struct SupervisorOptions {
  std::optional<double> deadline_seconds;  // of silence; default: deadline_of the case
  parity::Judging judging;
  std::string planted;  // in the judging, for the self-test to find: a fault; empty: none
  std::string bundles;  // a folder in which what fails is kept; empty: none
  std::string transport = kUsualGpuTransport;  // between the GPUs of processes
  bool timelines = false, explained = true;  // of parity::RunOptions
  int jobs = 1;  // workers that run small cases at a time
  std::function<void(const reports::CaseResult&)> finished;
};

// Runs every case in worker processes and gives a result for each, in the order of the cases. A
// worker that dies or falls silent costs the case it was in, no other. SIGINT and SIGTERM end the
// run; what did not run is skipped. This process touches neither MPI nor CUDA nor the tensors of a
// case. Throws parity::SelfTestFailed where a worker's self-test does.
std::vector<reports::CaseResult> supervise(const std::vector<parity::Case>& cases,
                                           const SupervisorOptions& options);

}  // namespace ringcheck::cli
