// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ringcheck::reports {

// What is different in the second of two results, beside speed.
enum class ChangeKind {
  kDead,           // a case hangs or crashes that did not
  kFails,          // an oracle fails that did not
  kContract,       // likewise, of a counter or memory contract
  kCounter,        // a rank counted something else
  kUnjudged,       // judged before, and now by nobody
  kVanished,       // a case, or a series of measurements, that is no longer there
  kStaleWaiver,    // expired, or of what passes
  kStillFails,     // in the same way as before
  kPassesAgain,
};
std::string to_text(ChangeKind kind);

struct Change {
  ChangeKind kind;
  std::string where;      // the case, or the series
  std::string what;       // "parity: dq", "rank 1: forward.messages", "hang"
  std::string base, new_; // where both sides have a value
  std::string reproduce;  // empty: no command
  std::string waived;     // the reason of a waiver; empty: it counts
};

// Whether it is what a gate is for: all but the last two.
bool is_worse(ChangeKind kind);
// The exit code that it asks for by itself: 5, 1, 4 or 6; 0 where it is not worse.
int exit_code(ChangeKind kind);

}  // namespace ringcheck::reports
