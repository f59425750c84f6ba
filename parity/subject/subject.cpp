// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/subject.h"

#include "parity/case/text.h"

namespace ringcheck::parity {

std::optional<std::string> refuses(const Case& test, const Subject& subject) {
  if (auto reason = subject.refuses(test)) return reason;
  if (test.lengths.empty() || subject.promise(test).lengths) return std::nullopt;
  return "subject " + test.subject + " does not promise to take batch entries of different lengths; leave "
         "--lengths out";
}

SharedSubject subject_of(const Case& test) {
  const Call call = parse_call(test.subject);
  known_name("subject", call.name, Subjects::all());
  return Subjects::at(call.name)(call.arguments);
}

}  // namespace ringcheck::parity
