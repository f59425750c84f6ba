// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/subject/python/lent.h"

namespace ringcheck::parity {

// The function that this process lends, as a subject of its ranks: each of them is the process that calls it.
SharedSubject in_process(LentPython& function);

}  // namespace ringcheck::parity
