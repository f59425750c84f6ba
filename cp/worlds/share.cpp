// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/share.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace ringcheck {

std::vector<at::Tensor> share_bytes(Communicator& host, const void* own, size_t bytes, Label label) {
  const at::Tensor local = at::empty({static_cast<int64_t>(bytes)}, at::kByte);
  std::memcpy(local.mutable_data_ptr(), own, bytes);
  std::vector<at::Tensor> all;
  for (int rank = 0; rank < host.size(); ++rank) all.push_back(at::empty_like(local));
  host.all_gather(local, all, label).wait();
  return all;
}

void refuse_together(Communicator& host, const std::optional<std::string>& own) {
  std::array<char, 768> reason{};  // a longer one is cut
  if (own) std::copy_n(own->begin(), std::min(own->size(), reason.size() - 1), reason.begin());
  const auto reasons = share(host, reason, {"refuse together"});
  for (int rank = 0; rank < host.size(); ++rank)
    if (reasons[rank].front() != '\0')
      throw std::runtime_error("rank " + std::to_string(rank) + ": " + reasons[rank].data());
}

}  // namespace ringcheck
