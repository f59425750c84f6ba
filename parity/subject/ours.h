// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "cp/attention/context_parallel.h"
#include "parity/subject/subject.h"

namespace ringcheck::parity {

// Ours: strategy x balancer x kernel, as the case says.
const SharedSubject& ours();

// What a rank of it does, put together from the parts that a case names, or from others in their
// place.
ContextParallel::Options options_of(const Case& test);
RankOutput context_parallel(Communicator& comm, const Case& test, const RankInput& input);
RankOutput context_parallel_with(ContextParallel::Options parts, Communicator& comm,
                                 const Case& test, const RankInput& input);

// A subject with our promises, perhaps changed, and another body: planted bugs, and whoever judges
// the judging.
using Body = std::function<RankOutput(Communicator&, const Case&, const RankInput&)>;
SharedSubject ours_with(Body body, std::function<void(Promise&)> change = {});

}  // namespace ringcheck::parity
