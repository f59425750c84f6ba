// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/doctor/doctor_smi.h"

namespace ringcheck::cli {

// What nvidia-smi says of the GPUs that CUDA shows this program: no context is made on them.
struct VisibleGpus {
  int count = 0;
  bool by_one_only = false;      // one of them takes only one process at a time
  std::optional<double> memory;  // bytes of the one that has least, or of its smallest MIG instance; nothing: nobody can say
};

// None where nvidia-smi is not found.
VisibleGpus visible_gpus();

// Of rows with index, uuid, compute_mode, memory.total (MiB) and mig.mode.current; `named` is
// CUDA_VISIBLE_DEVICES (CUDA C++ programming guide, environment variables): indexes or the begin of UUIDs, up to the first that
// names no GPU; `listed` is what nvidia-smi -L prints of MIG instances.
VisibleGpus visible_of(const std::vector<Row>& gpus, const std::optional<std::string>& named, const std::string& listed);

}  // namespace ringcheck::cli
