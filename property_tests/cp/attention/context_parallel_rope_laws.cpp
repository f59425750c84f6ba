// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cp/attention/partial.h"
#include "cp/attention/rope.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/cp/attention/passes.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

// In a pass: q and k are rotated as a whole sequence would be, V is not; O and LSE are those of
// rotated inputs, and dQ and dK come back through the inverse rotation.
RC_GTEST_PROP(ContextParallelRope, TokensTurnByGlobalPosition, ()) {
  parity::Case test = *gen::test_case().as("case");
  test.rope = *gen::rope().as("rope");
  if (accumulation_type(test.dtype) != test.dtype)
    test.dtype = at::kFloat;
  if (test.device != "cpu" || parity::not_supported(test))  // cuBLAS' bits depend on addresses
    test.kernel = plainest_kernel(parity::device_type_of(test));
  const Mask mask = parity::mask_of(test);
  const Positions all{{0, test.seq}};
  parity::Problem p = local_problem(test, parity::problem_of(test), all, 0);
  const Pass pass = run_pass(test, p);
  const auto turned = [&](const at::Tensor& x) { return rotate(x, test.rope, mask, all); };
  parity::Case plain = test;
  plain.rope = {};
  const Pass rotated = run_pass(plain, {turned(p.q), turned(p.k), p.v, p.d_o});
  reference::Tensors expected = rotated.whole;
  const auto back = [&](const at::Tensor& x) {
    return rotate_back(x.to(current_test_device()), test.rope, mask, all);
  };
  expected.dq = back(expected.dq);
  expected.dk = back(expected.dk);
  RC_ASSERT(difference(pass.q_rotated, turned(p.q)) == "");
  RC_ASSERT(difference(pass.k_rotated, turned(p.k)) == "");
  RC_ASSERT(difference(pass.whole, expected) == "");
}

}  // namespace
}  // namespace ringcheck
