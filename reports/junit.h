// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/result.h"

namespace ringcheck::reports {

// JUnit XML: a test suite a group, a test case a case. not_supported and skipped are skipped; hang,
// crash and inconclusive are errors.
std::string junit(const Result& result);

}  // namespace ringcheck::reports
