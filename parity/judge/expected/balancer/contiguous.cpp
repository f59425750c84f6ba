// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {
namespace {

// Equal parts, in order.
const ExpectedBalancers::Add registered{
    "contiguous",
    {[](const Case& test) -> int64_t { return test.world; },
     [](const Case& test, int64_t padded, int64_t position) {
       return position / (padded / test.world);
     }}};

}  // namespace
}  // namespace ringcheck::parity
