// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cp/worlds/transport.h"

namespace ringcheck {

// Of a rank that computes on a GPU: carries what lies in its memory. What lies in host memory is the
// business of the communicator that it was made over, which checks it, books it and carries it.
class GpuTransport : public Transport {
 public:
  void hand_over() override;
  void finish() override;  // all that was posted, on the host and on the GPU

 protected:
  GpuTransport(std::unique_ptr<Communicator> host, Group group);

  Pending carry(Request request) override;
  Communicator& host() { return *host_; }

 private:
  std::unique_ptr<Communicator> host_;
};

}  // namespace ringcheck
