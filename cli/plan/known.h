// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/plan/figures.h"

// The GPUs whose measured times this program carries.
namespace ringcheck::cli {

inline constexpr const char* kUsualGpu = "h200";

std::vector<std::string> known_gpus();

// Of one of them.
Figures figures_of_gpu(const std::string& gpu);

}  // namespace ringcheck::cli
