// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "parity/case/data/element.h"
#include "parity/case/problem.h"

namespace ringcheck::parity {

// The tensors that problem_of() makes, bit for bit, on a device: made there where it can make the
// numbers of the family itself, else copied to it.
Problem problem_on(at::Device device, const Task& test, const Positions& positions);

// The source of the own tensors of a case on GPUs: each rank makes its slots on its device, when it
// asks for them.
struct MadeOnRank {
  Problem operator()(const Case& test, const Positions& positions) const;
};
// Whether GPUs can make them, and they take little of a device that needs its memory for the case.
bool can_be_made_on_ranks(const Case& test);

// On a small problem of every family and dtype, the first tensor that differs in a bit from that of the
// CPU, in words; nothing where there is none.
std::optional<std::string> inputs_difference(at::Device device, uint64_t seed);

// How GPUs make numbers. What links CUDA is in a library of its own, which registers it when it is
// loaded. `out` is [batch, heads, slots, channels] on a GPU, `positions` [slots] int64 beside it, -1
// where a slot has no token; such slots get NaN. Behind what the current stream holds.
struct DeviceNumbers {
  void (*fill)(const std::string& family, uint64_t seed, Which which, const at::Tensor& positions,
               const at::Tensor& out);
};
struct RegisteredNumbers {
  explicit RegisteredNumbers(const DeviceNumbers& numbers);
};

}  // namespace ringcheck::parity
