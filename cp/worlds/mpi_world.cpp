// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/mpi_world.h"

#include <stdexcept>

#include "cp/worlds/mpi_library.h"

namespace ringcheck {
namespace {

std::unique_ptr<Session> loaded() {
  if (why_no_mpi()) throw std::runtime_error(*why_no_mpi());
  return Meetings::at("mpi").join(kTimeToMeet);
}

}  // namespace

MpiSession::MpiSession() : session_(loaded()) {}
MpiSession::MpiSession(int&, char**&) : MpiSession() {}

}  // namespace ringcheck
