// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/subject/run.h"

namespace ringcheck::parity {

// All calls of the subject that a run asks for, on one rank: the output of the last one. Of several
// it is recorded how much more is held after the last than after the second, when whatever is kept
// for good has been made. Each call is counted with its output alive and that of the call before
// gone.
RankOutput called(const Run& run, Communicator& world, const Subject& subject,
                  const RankInput& input);

}  // namespace ringcheck::parity
