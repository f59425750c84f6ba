// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/verify/part_lists.h"
#include "parity/case/case.h"

namespace ringcheck::cli {

// What the command line says of the cases to run.
struct Asked {
  PartLists parts;
  std::string profile;
  std::vector<std::string> models;
  std::vector<std::string> cases;  // their texts
  std::string tensors;             // a safetensors file
  std::vector<std::string> clean;  // a count and, perhaps, a seed
};

// The cases to run and what they are, in a line.
struct Selection {
  std::vector<parity::Case> cases;
  std::string what;
  bool single = false;  // one case, and nothing of it was left to us
};

// Throws UsageError or BadCase on what contradicts itself or cannot be.
Selection select(const Asked& asked);

}  // namespace ringcheck::cli
