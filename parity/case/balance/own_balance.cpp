// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/balance/own_balance.h"

namespace ringcheck::parity {

bool cuts_itself(const Method& method) { return method.balance == kOwnBalance; }

int64_t granule_of(const Case& test) {
  return cuts_itself(test) ? 1 : Balancers::at(test.balance).granule(test.block, test.world);
}

}  // namespace ringcheck::parity
