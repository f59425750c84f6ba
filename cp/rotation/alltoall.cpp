// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/rotation/ring_rotation.h"

namespace ringcheck {
namespace {

// Each hop is an all-to-all in which a rank has something for its right neighbour only: PyTorch's
// "alltoall" rotation.
Pending all_to_all_right(Communicator& comm, const at::Tensor& send, const at::Tensor& receive,
                         Label label) {
  std::vector<at::Tensor> sends(comm.size()), receives(comm.size());
  sends[comm.right()] = send;
  receives[comm.left()] = receive;
  return comm.all_to_all(sends, receives, label);
}

const Rotations::Add registered{"alltoall", ring_by(all_to_all_right)};

}  // namespace
}  // namespace ringcheck
