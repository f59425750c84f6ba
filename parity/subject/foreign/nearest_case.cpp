// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/foreign/nearest_case.h"

#include "parity/case/data/soft_data.h"
#include "parity/subject/contract.h"

namespace ringcheck::parity {

Case nearest_case(const Subject& subject, const Case& test) {
  Case nearest = subject.fitted(test);
  const bool anyhow = subject.promise(nearest).contract == merging_anyhow(loosest_contract({nearest.dtype}));
  return anyhow && widen(nearest) ? subject.fitted(nearest) : nearest;
}

}  // namespace ringcheck::parity
