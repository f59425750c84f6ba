// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "parity/faults/decorators/subject.h"

namespace ringcheck::parity {

// Our strategy with something done to what it is given, and to what it returns.
struct AroundStrategy {
  using Change = std::function<at::Tensor(const at::Tensor&, int world)>;
  Change q = {}, o = {}, lse = {}, d_o = {}, dq = {}, dk = {};  // none: as it is
};
SharedSubject with_around_strategy(AroundStrategy around);

// The strategy believes that the shards hold these positions.
SharedSubject in_order_of(std::function<std::vector<Positions>(const Layout&)> shards);
// As if the ranks held plain pieces.
std::vector<Positions> one_after_the_other(const Layout& layout);

// Transfers of one label made another way.
SharedSubject with_labelled(const char* label, std::function<Pending(Communicator&, Posting)> way);
// What came from one rank is taken for what came from another one.
Pending peers_mixed_up(Communicator& comm, Posting posting);

}  // namespace ringcheck::parity
