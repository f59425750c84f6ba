// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

#include "parity/judge/tally.h"
#include "parity/subject/contract.h"
#include "parity/subject/subject.h"

namespace ringcheck::parity {

inline constexpr int kFewestSeeds = 20;  // of a chart

// The most that is charted of a mean |bias|. BIAS is a sum of z in units of the root of their number: of
// roundings that are independent it is a standard normal, as the z that STAT refuses beyond it.
inline constexpr double kMostBias = kStat;

// What RMS z and |bias| of O, dQ, dK and dV are over the seeds 1000, 1001, ... of a case, by tensor,
// whatever the subject's charts were. Throws BadCase, which names the seed, where a run of it is no
// pass: a chart of what is wrong would let it be so; and where a mean bias is above kMostBias.
// `done` is called after each seed.
std::map<std::string, Chart> measured_charts(Case test, int seeds, const Subject& subject,
                                             const std::function<void()>& done = [] {});

}  // namespace ringcheck::parity
