// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/guard/guarded.h"
#include "parity/judge/conservation/factors.h"

namespace ringcheck::cli {

// What a factor may mean: "dv is 4 times what do asks for: ...; 4 is the number of ranks".
std::string factor_text(const parity::Factor& factor, const Guarded& all);

}  // namespace ringcheck::cli
