// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/doctor/finding.h"

namespace ringcheck::cli {

// "Open MPI 4.1.4" of what `mpirun --version` prints; its first line where that names no MPI
// library that we know.
std::string parse_mpirun(const std::string& text);

// Do worlds of processes work? `built` is the library that this program was compiled with, in the
// form of parse_mpirun.
Examined examine_mpi(double seconds, const std::string& built);

}  // namespace ringcheck::cli
