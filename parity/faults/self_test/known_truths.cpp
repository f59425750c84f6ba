// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/self_test/known_truths.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <cmath>

#include "parity/case/problem.h"
#include "parity/faults/self_test/plain_attention.h"
#include "parity/judge/comparison.h"
#include "parity/judge/reference_rope.h"

namespace ringcheck::parity {
namespace {

constexpr const char* kProblems[] = {"full/P1/b2/hq4/hkv2/s11/d6/dv4",
                                     "causal/P1/b1/hq3/hkv1/s13/d4/dv6/scale:-0.7",
                                     "window[3]/P1/b1/hq2/hkv2/s12/d2/dv2",
                                     "doc[4,3:5,1]/P1/b1/hq2/hkv1/s10/d4/dv4",
                                     "docfull[5:6,4]/P1/b1/hq2/hkv1/s10/d4/dv4",
                                     "prefix[4]/P1/b1/hq2/hkv1/s9/d4/dv4/scale:2",
                                     "causal/P1/b1/hq2/hkv1/s9/d4/dv4/rope:half[100]",
                                     "full/P1/b1/hq2/hkv1/s9/d4/dv4/rope:interleaved[100]"};

// Some tiles of it are full, some in part, some empty.
const reference::Tiling kManyTiles{.rows = 4, .columns = 3, .together = 20};

// Plain sums of a dozen terms in float64, however they are ordered.
bool agree(const at::Tensor& found, const at::Tensor& known) {
  return found.sizes() == known.sizes() && at::allclose(found, known, 1e-11, 1e-11);
}

struct Known {
  Case test;
  reference::Inputs inputs;
  reference::Tensors plain;

  explicit Known(const std::string& text) : test(parse_case(text + "/float64")) {
    const Problem p = problem_of(test);
    inputs = {plain::turned(p.q, test, 1),
              plain::turned(p.k, test, 1),
              p.v,
              p.d_o,
              mask_of(test),
              scale_of(test)};
    plain = plain::attention(inputs);
    plain.dq = plain::turned(plain.dq, test, -1);
    plain.dk = plain::turned(plain.dk, test, -1);
  }
};

void examine_values(const Truth& truth, const Known& known, const reference::Tiling& tiling,
                    SelfTest& result) {
  const reference::Judgement found =
      truth(known.inputs, contract_of(known.test), reference_rope(known.test), tiling);
  for (const auto& [name, tensor] : kTensors)
    result.demand(
        agree(found.value.*tensor, known.plain.*tensor),
        c10::str("the reference has another ", name, " than plain loops in ", to_text(known.test)));
}

double root_mean_square(const at::Tensor& x) { return x.square().mean().sqrt().item<double>(); }

// Root mean squares of what the formulas of docs/numerics.md give for float32 throughout, in units
// of 2^-24. That they are these formulas is the business of property_tests/reference.
struct Sizes {
  const char* tensor;
  double bound, sigma;
};
constexpr Sizes kSizes[] = {{"o", 63.12, 8.177},
                            {"lse", 153.2, 12.58},
                            {"dq", 233.2, 15.11},
                            {"dk", 671.3, 36.14},
                            {"dv", 475.9, 21.89}};

void examine_sizes(const Truth& truth, SelfTest& result) {
  const Known known(kProblems[0]);
  const reference::Judgement found = truth(known.inputs, {}, {}, {});
  const auto is = [](const at::Tensor& x, double known_size) {
    return std::abs(root_mean_square(x) / 0x1p-24 - known_size) <= 0.01 * known_size;
  };
  for (size_t i = 0; i < std::size(kTensors); ++i) {
    const auto tensor = kTensors[i].tensor;
    result.demand(
        is(found.bound.*tensor, kSizes[i].bound),
        c10::str("the bound of ", kSizes[i].tensor, " is ",
                 root_mean_square(found.bound.*tensor) / 0x1p-24, " units, not ", kSizes[i].bound));
    result.demand(
        is(found.sigma.*tensor, kSizes[i].sigma),
        c10::str("the sigma of ", kSizes[i].tensor, " is ",
                 root_mean_square(found.sigma.*tensor) / 0x1p-24, " units, not ", kSizes[i].sigma));
  }
}

}  // namespace

reference::Judgement true_judgement(const reference::Inputs& inputs,
                                    const reference::Contract& contract,
                                    const reference::Rope& rope, const reference::Tiling& tiling) {
  return reference::judge(inputs, contract, 1, rope, tiling);
}

void examine_truth(const Truth& truth, SelfTest& result) {
  for (const char* text : kProblems) {
    const Known known(text);
    examine_values(truth, known, {}, result);
    examine_values(truth, known, kManyTiles, result);
  }
  examine_sizes(truth, result);
}

}  // namespace ringcheck::parity
