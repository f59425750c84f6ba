// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

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

}  // namespace ringcheck::parity
