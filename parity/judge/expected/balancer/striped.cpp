// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {
namespace {

// Blocks are dealt one after the other (Striped Attention, Brandon et al. 2023, section 3).
const ExpectedBalancers::Add registered{
    "striped",
    {[](const Case& test) -> int64_t { return test.world * test.block; },
     [](const Case& test, int64_t, int64_t position) {
       return position / test.block % test.world;
     }}};

}  // namespace
}  // namespace ringcheck::parity
