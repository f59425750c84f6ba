// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "cp/worlds/communicator.h"

namespace ringcheck {

// The bytes of every rank, in rank order: as many on each. Collective, in host memory.
std::vector<at::Tensor> share_bytes(Communicator& host, const void* own, size_t bytes, Label label);

// What every rank of a world says, in rank order.
template <class Said>
std::vector<Said> share(Communicator& host, const Said& own, Label label) {
  static_assert(std::is_trivially_copyable_v<Said>);
  std::vector<Said> all(host.size());
  const auto bytes = share_bytes(host, &own, sizeof own, label);
  for (size_t rank = 0; rank < all.size(); ++rank)
    std::memcpy(&all[rank], bytes[rank].const_data_ptr(), sizeof own);
  return all;
}

// What one rank refuses, none may begin: throws std::runtime_error on every rank, in the words of the
// first that refuses. Collective.
void refuse_together(Communicator& host, const std::optional<std::string>& own);

}  // namespace ringcheck
