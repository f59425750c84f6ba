// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/parity/judge/diagnosis/right_answer.h"

#include <ATen/ATen.h>

#include <limits>

#include "parity/judge/against_reference.h"
#include "parity/judge/diagnosis/diagnosis.h"
#include "parity/judge/reference_rope.h"
#include "reference/attention.h"

namespace ringcheck::parity {

std::vector<std::string> Judged::lines(const std::set<std::string>& wrong) const {
  return diagnosis(test, [&] { return problem; }, outcome, wrong, [] {});
}

Judged right(const std::string& text) {
  const Case test = parse_case(text);
  Judged judged{test, problem_of(test), {}};
  const Problem& p = judged.problem;
  const reference::Rope rope = reference_rope(test);
  reference::Tensors& all = judged.outcome.tensors;
  for (const NamedTensor& named : kTensors) {
    const auto shape = shape_of(named, test);
    all.*named.tensor = named.tensor == &reference::Tensors::lse ? at::full(shape, -std::numeric_limits<double>::infinity(), at::kDouble)
                                                                  : at::zeros(shape, at::kDouble);
  }
  for (int64_t entry = 0; entry < test.batch; ++entry) {
    const Mask mask = mask_of(test, entry);
    if (mask.length == 0) continue;
    const auto of = [&](const at::Tensor& x) { return x.narrow(0, entry, 1).narrow(2, 0, mask.length).to(at::kDouble); };
    reference::Tensors one = reference::naive_attention({reference::rotate(of(p.q), mask, rope), reference::rotate(of(p.k), mask, rope), of(p.v),
                                                         of(p.d_o), mask, scale_of(test)});
    one.dq = reference::rotate_back(one.dq, mask, rope);
    one.dk = reference::rotate_back(one.dk, mask, rope);
    for (const NamedTensor& named : kTensors)
      (all.*named.tensor).narrow(0, entry, 1).narrow(2, 0, mask.length).copy_(one.*named.tensor);
  }
  return judged;
}

}  // namespace ringcheck::parity
