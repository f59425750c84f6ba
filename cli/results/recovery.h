// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/workers/death.h"
#include "reports/result.h"

namespace ringcheck::cli {

// The result of a run that something ended, from its journal. What ended it is the verdict of the case
// that ran, or was the next to run; of the last one, where all had ended and it is no interrupt. The
// cases behind it are skipped. Throws std::invalid_argument where it is no journal.
reports::Result recovered(const std::string& journal, const Death& death);

// The files that were asked for; empty: none.
void write_recovered(const reports::Result& result, const std::string& json,
                     const std::string& junit);

}  // namespace ringcheck::cli
