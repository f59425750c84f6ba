// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/cuda/gpu_transport.h"

#include <stdexcept>

namespace ringcheck {

GpuTransport::GpuTransport(std::unique_ptr<Communicator> host, Group group)
    : Transport(std::move(group), host->shared_ledger(), host->deadline()),
      host_(std::move(host)) {}

void GpuTransport::hand_over() {
  host_->finish();
  Transport::hand_over();
}

void GpuTransport::finish() {
  host_->finish();
  Transport::finish();
}

Pending GpuTransport::carry(Request request) {
  const size_t all = request.sends.size() + request.receives.size();
  size_t on_host = 0;
  for (const auto* messages : {&request.sends, &request.receives})
    for (const Message& message : *messages)
      on_host += message.data.defined() && message.data.is_cpu();
  if (on_host == 0 && all > 0) return Transport::carry(std::move(request));
  if (on_host != all)
    throw std::invalid_argument(describe({request.label.name, request.label.step}) +
                                ": some messages are on the cpu and some on " + device().str() +
                                "; make a transfer of each kind");
  return host_->transfer(std::move(request.sends), std::move(request.receives), request.label);
}

}  // namespace ringcheck
