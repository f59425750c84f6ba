// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

namespace ringcheck {

// Looks up a variable of the environment; null where it is not set.
using Lookup = std::function<const char*(const char*)>;
const char* variable(const char* name);  // of this process

// The environment says nonsense of the ranks: which variable, its value and the fix.
class BadLaunch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What the variables of torch.distributed say: RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, which
// torchrun sets for its ranks, and whoever starts processes himself.
struct TorchVariables {
  int rank = 0, size = 1;
  std::string address;            // empty where one process alone needs none
  uint16_t port = 0;
  int local_rank = -1, local_size = -1;  // LOCAL_RANK, LOCAL_WORLD_SIZE; -1: not said

  std::string place() const { return address + ":" + std::to_string(port); }
};

// Are all four set?
bool has_torch_variables(const Lookup& environment);

// Nothing where none of the four is set. Throws BadLaunch where one is missing or makes no sense.
std::optional<TorchVariables> torch_variables(const Lookup& environment);

}  // namespace ringcheck
