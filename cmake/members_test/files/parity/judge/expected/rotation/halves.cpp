// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/expected/rotation/round.h"

namespace ringcheck::parity {
namespace {

// As blocks that are passed round, each in two messages.
ExpectedRotation halves() {
  ExpectedRotation rotation = passed_round();
  rotation.messages_a_block = 2;
  return rotation;
}

const ExpectedRotations::Add registered{"halves", halves()};

}  // namespace
}  // namespace ringcheck::parity
