// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/ledger/computed.h"

#include <utility>

namespace ringcheck {
namespace {

thread_local int64_t said = 0;

}  // namespace

void add_computed(int64_t pairs) { said += pairs; }
int64_t take_computed() { return std::exchange(said, 0); }

}  // namespace ringcheck
