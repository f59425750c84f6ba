// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "parity/judge/conservation/laws.h"
#include "parity/judge/verdict.h"

namespace ringcheck::parity {

// One law where it is worst.
struct LawVerdict {
  std::string law;        // C1 ... C4
  std::string says;       // in symbols
  Status status = Status::kPass;  // kInconclusive: nowhere would the wrong result of `power` be seen
  double z = 0;           // largest |difference| / sigma, judged against kStat; a NaN is infinite
  double difference = 0;  // there
  double sigma = 0;       // there: what rounding can explain, as a standard deviation
  int64_t batch = 0, kv_head = 0, channel = -1;  // there; -1: all channels together
  double power = 0;  // largest z of a plainly wrong result: C1 dV = 0, C2 D = 0, C3 dQ = 0, C4 O = 0
  int64_t counted = 0, heads = 0;  // (batch, kv head) where that is seen, and all

  std::string text() const;  // where and how large, in words
};

// The four laws that attention's backward pass keeps whatever the mask, without a reference
// (docs/conservation.md): C1 sum dV = sum dO, C2 sum dK = 0, C3 sum dQ q = sum dK k,
// C4 sum dV v = sum dO O, each in every channel. The sums are of the whole sequence.
std::vector<LawVerdict> judge_conservation(const ConservationSums& sums,
                                           const Arithmetic& arithmetic);

// Have the laws that `before` broke come to hold, and no other to fail? By larger scales, too.
bool explained(const std::vector<LawVerdict>& before, const std::vector<LawVerdict>& after);
// The same, by differences that have become smaller.
bool mended(const std::vector<LawVerdict>& before, const std::vector<LawVerdict>& after);

// The variance of C4 over all heads and channels together: of <dO, O> and of <dV, v>.
double output_variance(const ConservationSums& sums, const Arithmetic& arithmetic);

}  // namespace ringcheck::parity
