// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/result.h"
#include "reports/waivers.h"

namespace ringcheck::reports {

// JUnit XML, as junit-10.xsd of the Jenkins xUnit plugin wants it: a test suite a case, with its parts
// and the command that reproduces it as properties. not_supported and skipped are skipped; hang, crash
// and inconclusive are errors. What is waived is skipped, with the reason; a waiver that does not hold is
// a failure in a suite of its own.
std::string junit(const Result& result, const Waived& waived = {});

}  // namespace ringcheck::reports
