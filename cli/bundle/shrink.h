// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/workers/supervisor.h"

namespace ringcheck::cli {

// Makes failures that are kept in `folder` small: of the first 3 failed cases that take at most 10 s
// each walks along parity/case/simpler.h to one of which no simpler one fails alike, for at most 30 s
// and 200 cases. The bundle is then that of the smallest which failed, as it failed.
void shrink_bundles(const std::string& folder, const SupervisorOptions& options,
                    const std::vector<reports::CaseResult>& results);

}  // namespace ringcheck::cli
