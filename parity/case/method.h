// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ringcheck::parity {

// Who answers, and how: a subject by name with its own arguments. How the sequence is cut over the
// ranks is said of every subject, the strategy and the kernel are those of ours.
struct Method {
  std::string subject = kOurs;
  std::string strategy = "ring";        // of Strategies
  std::string arguments = ":alltoall";  // of the strategy, in its canonical text
  std::string balance = "headtail";     // of Balancers
  int64_t block = 1;                    // of a balancer that takes one, in tokens
  std::string kernel = "plain";         // of AttentionKernels
  bool operator==(const Method&) const = default;

  static constexpr const char* kOurs = "ours";
  bool is_ours() const { return subject == kOurs; }
};

}  // namespace ringcheck::parity
