// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "parity/faults/fault.h"

namespace ringcheck::cli {

// Who is asked for the verdicts of a self-test: the judging as it is, or where `fault` names one of
// the catalogue that sits in the judging, that. Throws UsageError where it does not.
parity::AskOracle judging_with(const std::string& fault);

}  // namespace ringcheck::cli
