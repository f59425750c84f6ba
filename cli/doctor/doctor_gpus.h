// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/doctor/doctor_smi.h"
#include "cli/doctor/finding.h"

namespace ringcheck::cli {

// What keeps the clocks down, of the bits that nvidia-smi calls event reasons or throttle reasons.
// An idle GPU is none.
struct Throttle {
  std::vector<std::string> heat_or_power;  // the figures of a measurement are too low
  std::vector<std::string> settings;       // someone fixed the clocks
};
Throttle parse_throttle(const std::string& hexadecimal);

// Everything to say about one GPU, from its row.
std::vector<Finding> judge_gpu(const Row& gpu);

// Other processes that compute on the GPU of this row, and its memory that is in use.
std::optional<Finding> judge_company(const Row& gpu, const std::vector<Row>& processes);

// The driver and its GPUs, as the nvidia-smi in PATH says. The fact "gpus" is a list of all values.
Examined examine_gpus(double seconds);

}  // namespace ringcheck::cli
