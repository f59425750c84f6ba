// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/mpi_library.h"

#include <dlfcn.h>

namespace ringcheck {
namespace {

// MPI's own plug-ins look its functions up in what is already loaded.
std::optional<std::string> load() {
  if (::dlopen("libringcheck_mpi.so", RTLD_LAZY | RTLD_GLOBAL) != nullptr) return std::nullopt;
  return std::string("MPI cannot be used: ") + ::dlerror() +
         "; install libringcheck_mpi.so beside libringcheck.so and the MPI that it is linked with "
         "(openmpi-bin), or use world kind thread, or torchrun";
}

}  // namespace

const std::optional<std::string>& why_no_mpi() {
  static const std::optional<std::string> reason = load();
  return reason;
}

std::string describe_mpi() { return why_no_mpi() ? "no MPI" : MpiDescriptions::at("mpi").text(); }

}  // namespace ringcheck
