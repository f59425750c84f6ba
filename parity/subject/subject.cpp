// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/subject.h"

#include "parity/case/text.h"

namespace ringcheck::parity {

SharedSubject subject_of(const Case& test) {
  const Call call = parse_call(test.subject);
  known_name("subject", call.name, Subjects::all());
  return Subjects::at(call.name)(call.arguments);
}

}  // namespace ringcheck::parity
