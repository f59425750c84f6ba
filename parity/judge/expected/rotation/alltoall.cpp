// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/expected/rotation/round.h"

namespace ringcheck::parity {
namespace {

const ExpectedRotations::Add registered{"alltoall", passed_round()};

}  // namespace
}  // namespace ringcheck::parity
