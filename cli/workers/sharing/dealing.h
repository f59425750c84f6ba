// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "cli/doctor/visible_gpus.h"
#include "parity/case/case.h"

namespace ringcheck::cli {

// It takes little memory to judge it.
bool is_small(const parity::Case& test);

// How long it takes on one core, roughly.
double seconds_of(const parity::Case& test);

// Which cases, by their index, have all of the machine one after the other, which are shared by a few workers, of
// which each takes a part of a GPU's memory, and which by as many as there are; those that take longest first.
struct Dealt {
  std::vector<size_t> large, medium, small;
};
Dealt deal(const std::vector<parity::Case>& cases, const std::vector<size_t>& indexes);

// A third of the workers, one at least and four at most: each takes some GiB of a GPU.
size_t workers_of_medium(int jobs);

// Workers at a time, where nobody says how many: one more than cores, up to 8, or 12 on GPUs; there, one for each
// 4 GiB of a GPU's memory at most, and one alone where one takes no more than one process. A function in Python starts a
// process a rank for each, which on GPUs takes as long as some dozens of its cases: it has a worker for each dozen.
int default_jobs(const std::vector<parity::Case>& cases, const VisibleGpus& gpus, size_t cores);

// Of this machine, one at least.
size_t cores_here();

// How long all ranks of a case may be silent: the larger of 30 s, or 120 s of a subject that is not
// ours, and 20 times its predicted time.
double deadline_of(const parity::Case& test);

}  // namespace ringcheck::cli
