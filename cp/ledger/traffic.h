// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

namespace ringcheck {

// What one rank sent to others and received from them.
struct Traffic {
  struct Edge {
    int64_t sent = 0, received = 0;
  };
  int64_t bytes_sent = 0, bytes_received = 0;
  int64_t messages = 0;       // non-empty payloads sent to another rank
  std::map<int, Edge> peers;  // bytes by world rank; -1 where the peer is not known

  void send(int peer, int64_t bytes);
  void receive(int peer, int64_t bytes);
  // What was added to `earlier`, a state of the same sums, to make this one.
  Traffic since(const Traffic& earlier) const;
};

}  // namespace ringcheck
