// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/doctor/visible_gpus.h"
#include "cli/verify/memory.h"
#include "cli/workers/supervisor.h"

namespace ringcheck::cli {

// The visible_gpus() of this machine, where a case needs one: else none.
VisibleGpus gpus_for(const std::vector<parity::Case>& cases);

// What its cgroup leaves of the host's memory, and that of these GPUs.
Memory memory_here(const VisibleGpus& gpus);

// supervise() of those cases that fit; the others are not supported here.
std::vector<reports::CaseResult> supervise_what_fits(const std::vector<parity::Case>& cases, const VisibleGpus& gpus,
                                                     const SupervisorOptions& options);

}  // namespace ringcheck::cli
