// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/fault_effect.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "cp/error.h"
#include "parity/comparison.h"

namespace ringcheck::parity {
namespace {

constexpr double kInPlaceOfNan = 7777;

bool same(const at::Tensor& a, const at::Tensor& b) {
  if (a.defined() != b.defined()) return false;
  return !a.defined() || (a.sizes() == b.sizes() && at::equal(a.nan_to_num(kInPlaceOfNan),
                                                              b.nan_to_num(kInPlaceOfNan)));
}

std::optional<Outcome> outcome_of(const Fault& fault, const Case& test, const Subject& subject) {
  try {
    return solve({test}, {test.world, deadline_of(fault), {}, device_type_of(test)}, subject);
  } catch (const RankFailure&) {
    return std::nullopt;
  }
}

}  // namespace

std::chrono::milliseconds deadline_of(const Fault& fault) {
  return std::chrono::milliseconds(fault.hangs ? 300 : 20000);
}

std::optional<Outcome> faulty_outcome(const Fault& fault, const Case& test) {
  return outcome_of(fault, test, fault.subject);
}

bool same_bits(const Outcome& a, const Outcome& b) {
  return same(a.q_rotated, b.q_rotated) && same(a.k_rotated, b.k_rotated) &&
         std::ranges::all_of(kTensors, [&](const NamedTensor& named) {
           return same(a.tensors.*named.tensor, b.tensors.*named.tensor);
         });
}

bool changes_no_bit(const Fault& fault, const Case& test) {
  const auto faulty = faulty_outcome(fault, test), right = outcome_of(fault, test, fault.control);
  return faulty && right && same_bits(*faulty, *right);
}

}  // namespace ringcheck::parity
