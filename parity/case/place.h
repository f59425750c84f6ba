// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/DeviceType.h>

#include <string>

namespace ringcheck::parity {

// Where: how ranks exist, how many there are, and what they compute on.
struct Place {
  std::string world_kind = "thread";  // thread: ranks of one process; mpi: a process a rank, whoever launched them
  std::string device = "cpu";         // cpu | cuda
  int world = 4;                      // ranks
  bool operator==(const Place&) const = default;
};

at::DeviceType device_type_of(const Place& place);

}  // namespace ringcheck::parity
