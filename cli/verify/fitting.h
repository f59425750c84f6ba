// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/verify/memory.h"
#include "cli/workers/supervisor.h"

namespace ringcheck::cli {

// Of this machine: what its cgroup leaves of the host's memory, and what nvidia-smi says of GPUs, which
// no context is made on. Of GPUs nothing where they are not asked for.
Memory memory_here(bool with_its_gpus);

// supervise() of those cases that fit; the others are not supported here.
std::vector<reports::CaseResult> supervise_what_fits(const std::vector<parity::Case>& cases,
                                                     const SupervisorOptions& options);

}  // namespace ringcheck::cli
