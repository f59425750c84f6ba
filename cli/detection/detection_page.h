// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/detection/false_alarms.h"
#include "cli/detection/kill_matrix.h"
#include "cli/detection/limits.h"

namespace ringcheck::cli {

// Where a figure of the page is from.
struct Source {
  std::string file, command, commit, cpu;
};

// How well the oracles see, as measured.
struct Detection {
  KillMatrix matrix;
  std::vector<KillMatrix> profiles;  // the same faults in the cases of profiles
  Limits limits;
  FalseAlarms alarms;  // of all runs of clean cases together
  std::vector<Source> sources;
};

// The page for readers: in short, the matrix by oracle and by other projects' criteria, limits of
// detection, false alarms, every fault.
std::string markdown_text(const Detection& detection);

}  // namespace ringcheck::cli
