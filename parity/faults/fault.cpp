// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/fault.h"

#include <algorithm>

namespace ringcheck::parity {

std::string to_text(Site site) {
  switch (site) {
    case Site::kCommunicator: return "communicator";
    case Site::kRotation: return "rotation";
    case Site::kCarrier: return "carrier";
    case Site::kMerge: return "merge";
    case Site::kKernel: return "kernel";
    case Site::kStrategy: return "strategy";
    case Site::kBalancer: return "balancer";
    case Site::kRope: return "rope";
    case Site::kInput: return "input";
    case Site::kCounters: return "counters";
    case Site::kHarness: return "harness";
  }
  return "unknown";
}

std::vector<Case> cases_of(const Fault& fault, at::ScalarType dtype) {
  std::vector<Case> cases;
  if (std::ranges::find(fault.dtypes, dtype) == fault.dtypes.end()) return cases;
  for (const std::string& text : fault.cases)
    cases.push_back(parse_case(text + "/" + dtype_text(dtype)));
  return cases;
}

FaultGroup::FaultGroup(const std::string& name,
                       std::vector<std::pair<std::string, Fault>> faults) {
  for (auto& [fault_name, fault] : faults) {
    fault.group = name;
    Faults::Add(fault_name, std::move(fault));
  }
}

}  // namespace ringcheck::parity
