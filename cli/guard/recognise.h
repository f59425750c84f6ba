// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/guard/guarded.h"

namespace ringcheck::cli {

// The usual mistakes that would explain the broken laws of a dump, each tried: factors from the
// sums, the others on the (batch, kv head) where a law is worst, which the files are read for again.
std::vector<parity::Fit> recognise(const Guarded& all);

}  // namespace ringcheck::cli
