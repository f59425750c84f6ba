// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/rotation/ring_rotation.h"

namespace ringcheck {
namespace {

// A ring in which a block goes to the right neighbour as two messages, posted at once.
Pending send_halves(Communicator& comm, const at::Tensor& send, const at::Tensor& receive,
                    Label label) {
  const auto cut = [](const at::Tensor& block, int peer) {
    const int64_t all = block.numel(), first = all / 2;
    return std::vector<Message>{{block.narrow(0, 0, first), peer},
                                {block.narrow(0, first, all - first), peer}};
  };
  return comm.transfer(cut(send, comm.right()), cut(receive, comm.left()), label);
}

const Rotations::Add registered{"halves", ring_by(send_halves)};

}  // namespace
}  // namespace ringcheck
