// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cp/registry.h"
#include "cp/worlds/session.h"

namespace ringcheck {

// Everything that links MPI is in libringcheck_mpi.so, which is loaded when a job first asks for
// it: a program that makes its ranks otherwise starts without an MPI library.
//
// Why there is no MPI to use, or nothing. Loads the library at the first call.
const std::optional<std::string>& why_no_mpi();

// "Open MPI 4.1.4", as libringcheck_mpi.so was compiled with; "no MPI" where it cannot be used.
std::string describe_mpi();

// What the library brings.
struct MpiLibrary {
  std::function<std::string()> version;
  std::function<std::unique_ptr<Session>()> session;
};
using MpiLibraries = Registry<MpiLibrary>;

}  // namespace ringcheck
