// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/subject/subject.h"

namespace ringcheck::parity {

// Ours, both passes replayed as graphs of the device (cp/attention/graphed.h), which were made of other
// numbers and replayed once with them: what it shows comes of what the tensors held at the last replay.
SharedSubject graphed();

}  // namespace ringcheck::parity
