// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <algorithm>

#include "parity/faults/peer_test.h"

namespace ringcheck::parity {
namespace {

// Of the estimate; the abstract names none. What is right must not be rejected: it differs from
// the reference by the rounding of both.
constexpr double kMargin = 4;

double distance(const at::Tensor& x, const at::Tensor& reference) {
  return (x - reference).norm().item<double>() / reference.norm().item<double>();
}

std::optional<bool> accepts(const Exhibit& x) {
  if (x.test.dtype == at::kDouble || x.tensor == "lse") return std::nullopt;
  double expected = 0;
  for (const at::Tensor& run : x.perturbed) expected = std::max(expected, distance(run, x.eager));
  return distance(x.actual, x.eager) <= kMargin * expected;
}

const PeerTests::Add registered{
    "ttrace",
    {"||x - eager|| / ||eager|| <= 4 max over perturbed runs of ||perturbed - eager|| / ||eager||, "
     "their inputs a machine epsilon away; TTrace, arXiv:2506.09280, with a margin of our choice",
     accepts}};

}  // namespace
}  // namespace ringcheck::parity
