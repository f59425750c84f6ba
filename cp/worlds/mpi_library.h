// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cp/registry.h"

namespace ringcheck {

// Everything that links MPI is in libringcheck_mpi.so, which is loaded when a job first asks for
// it: a program that makes its ranks otherwise starts without an MPI library.
//
// Why there is no MPI to use, or nothing. Loads the library at the first call.
const std::optional<std::string>& why_no_mpi();

// "Open MPI 4.1.4", as libringcheck_mpi.so was compiled with; "no MPI" where it cannot be used.
std::string describe_mpi();

// What the library brings: its description; its session registers in cp/worlds/session.h.
struct MpiDescription {
  std::function<std::string()> text;
};
using MpiDescriptions = Registry<MpiDescription>;

}  // namespace ringcheck
