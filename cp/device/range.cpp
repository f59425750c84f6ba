// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/range.h"

#include "cp/error.h"

namespace ringcheck {

Range::Range(const Operation& operation) : shown_(!Profilers::all().empty()) {
  if (!shown_) return;
  const std::string name = describe(operation);
  for (const auto& [unused, profiler] : Profilers::all()) profiler.push(name);
}

Range::~Range() {
  if (!shown_) return;
  for (const auto& [unused, profiler] : Profilers::all()) profiler.pop();
}

}  // namespace ringcheck
