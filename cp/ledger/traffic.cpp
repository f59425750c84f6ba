// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/ledger/traffic.h"

namespace ringcheck {

void Traffic::send(int peer, int64_t bytes) {
  bytes_sent += bytes;
  ++messages;
  peers[peer].sent += bytes;
}

void Traffic::receive(int peer, int64_t bytes) {
  bytes_received += bytes;
  peers[peer].received += bytes;
}

Traffic Traffic::since(const Traffic& earlier) const {
  Traffic added = *this;
  added.bytes_sent -= earlier.bytes_sent;
  added.bytes_received -= earlier.bytes_received;
  added.messages -= earlier.messages;
  for (const auto& [peer, edge] : earlier.peers) {
    added.peers[peer].sent -= edge.sent;
    added.peers[peer].received -= edge.received;
  }
  return added;
}

}  // namespace ringcheck
