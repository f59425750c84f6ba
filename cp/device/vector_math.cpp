// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

namespace ringcheck {
namespace {

// The vector functions of MKL, which LibTorch calls for exp and log on x86, find out at their first
// call which processor this is, and not safely: they store the number of the processor first and
// the index of its functions after it. A call from another thread in between takes a function of
// another accuracy, with relative errors of 1.5e-4 in exp and 4e-5 in log in float32. So the
// thread that loads this library makes the first call.
[[maybe_unused]] const bool settled = at::ones({16}, at::kFloat).exp().defined();

}  // namespace
}  // namespace ringcheck
