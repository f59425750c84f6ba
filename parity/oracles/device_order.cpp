// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "cp/device/moment.h"
#include "parity/judge/comparison.h"
#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// Every rank on the device of its right neighbour. A device whose results change with the rank that
// computes on it is a suspect.
std::vector<Run> runs(const Case& test) {
  const bool several = test.device != "cpu" && device_count(device_type_of(test)) > 1;
  if (test.world_kind != "thread" || !several) return {};
  Run run{test};
  run.first_device = 1;
  return {run};
}

OracleVerdict judge(const Evidence& e) {
  reference::Tensors moved = e.variations.front().tensors;
  for (const auto& [name, tensor] : kTensors)
    if ((moved.*tensor).defined() && (e.outcome.tensors.*tensor).defined())
      moved.*tensor = (moved.*tensor).to((e.outcome.tensors.*tensor).device());
  return identical(e.test, moved, e.outcome.tensors);
}

const Oracles::Add registered{
    "device-order",
    {"which device computes for which rank changes no bit of F", judge, runs,
     Oracle::Rigour::kExact, "further runs", "several GPUs, and ranks that are threads",
     {.same_bits = true}}};

}  // namespace
}  // namespace ringcheck::parity
