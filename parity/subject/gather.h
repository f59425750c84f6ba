// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cp/worlds/communicator.h"

namespace ringcheck::parity {

// A tensor of every rank, the same shape and dtype on all of them. Collective.
inline std::vector<at::Tensor> gather(Communicator& comm, const at::Tensor& local) {
  std::vector<at::Tensor> gathered;
  for (int rank = 0; rank < comm.size(); ++rank) gathered.push_back(at::empty_like(local));
  comm.all_gather(local, gathered, {"collect"}).wait();
  return gathered;
}

// A text of every rank, without NUL. Collective.
inline std::vector<std::string> gather(Communicator& comm, const std::string& own) {
  at::Tensor bytes = at::zeros({comm.agree_max(static_cast<int64_t>(own.size()))}, at::kByte);
  std::ranges::copy(own, bytes.mutable_data_ptr<uint8_t>());
  std::vector<std::string> texts;
  for (const at::Tensor& text : gather(comm, bytes)) {
    const auto* first = text.const_data_ptr<uint8_t>();
    texts.emplace_back(first, std::find(first, first + text.numel(), 0));
  }
  return texts;
}

}  // namespace ringcheck::parity
