// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {
namespace {

// Equal parts, counted from the end.
const ExpectedBalancers::Add registered{
    "reversed",
    {[](const Case& test) -> int64_t { return test.world; },
     [](const Case& test, int64_t padded, int64_t position) {
       return (padded - 1 - position) / (padded / test.world);
     }}};

}  // namespace
}  // namespace ringcheck::parity
