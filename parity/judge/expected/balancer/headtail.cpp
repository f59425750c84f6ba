// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {
namespace {

// 2P chunks, of which rank r holds number r from either end (Llama 3, section 3.3.2).
const ExpectedBalancers::Add registered{
    "headtail",
    {[](const Case& test) -> int64_t { return 2 * test.world; },
     [](const Case& test, int64_t padded, int64_t position) {
       const int64_t chunk = position / (padded / (2 * test.world));
       return chunk < test.world ? chunk : 2 * test.world - 1 - chunk;
     }}};

}  // namespace
}  // namespace ringcheck::parity
