// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/doctor/doctor_smi.h"
#include "cli/doctor/finding.h"

namespace ringcheck::cli {

// How each GPU reaches each other one, in the words of `nvidia-smi topo`.
struct Matrix {
  std::vector<std::string> gpus;                // "GPU0"
  std::vector<std::vector<std::string>> cells;  // "X", "NV18", "PIX", "SYS"; "OK", "TNS"
};

// Of `nvidia-smi topo -m` or `-p2p r`: without network cards and affinities. No GPU where the text
// is no such table.
Matrix parse_matrix(const std::string& text);

// Findings on peer-to-peer access and on the links. A pair is said once.
std::vector<Finding> judge_access(const Matrix& access);
std::vector<Finding> judge_links(const Matrix& links);

// The fact "links" is a list of the pairs.
Examined examine_links(const Smi& smi);

}  // namespace ringcheck::cli
