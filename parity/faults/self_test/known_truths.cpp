// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/self_test/known_truths.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <cmath>
#include <tuple>

#include "parity/case/problem.h"
#include "parity/faults/self_test/plain_attention.h"
#include "parity/judge/against_reference.h"
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
                                     "doc[4,3:5]/P1/b1/hq2/hkv1/s9/d4/dv4/rope:half[100]",
                                     "doc[5,3:4]/P1/b1/hq2/hkv1/s9/d4/dv4/rope:half[100]",
                                     "full/P1/b1/hq2/hkv1/s9/d4/dv4/rope:interleaved[100]",
                                     "full/P1/b1/hq2/hkv1/s9/d4/dv4/rope:interleaved[500]"};  // right behind another base

// Some tiles of it are full, some in part, some empty.
const reference::Tiling kManyTiles{.rows = 4, .columns = 3, .together = 20};

// Plain sums of a dozen terms in float64, however they are ordered; none where there is no term.
bool agree(const at::Tensor& found, const at::Tensor& known) {
  return found.sizes() == known.sizes() && at::allclose(found, known, 1e-11, 1e-11) &&
         (found.eq(0) | known.ne(0)).all().item<bool>();
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
      truth(known.inputs, contract_of(known.test), 1, reference_rope(known.test), tiling);
  for (const auto& [name, tensor] : kTensors)
    result.demand(
        agree(found.value.*tensor, known.plain.*tensor),
        c10::str("the reference has another ", name, " than plain loops in ", to_text(known.test)));
}

// Root mean squares of bounds and sigmas, in roundings of the dtype. That they are what the formulas of
// docs/numerics.md give is the business of property_tests/reference.
struct Sizes {
  double bound, sigma;
};

void examine_sizes(const reference::Judgement& found, const NamedTensor& named, const std::string& problem,
                   double rounding, const Sizes& known, SelfTest& result) {
  const auto is = [&](const char* what, const at::Tensor& x, double known_size) {
    const double size = x.square().mean().sqrt().item<double>() / rounding;
    result.demand(std::abs(size - known_size) <= 0.001 * known_size,
                  c10::str("the ", what, " of ", named.name, " is ", size, " units, not ", known_size, ", in ", problem));
  };
  is("bound", found.bound.*named.tensor, known.bound);
  is("sigma", found.sigma.*named.tensor, known.sigma);
}

void examine_sizes(const reference::Judgement& found, const std::string& problem, double rounding,
                   const Sizes (&known)[5], SelfTest& result) {
  for (size_t i = 0; i < std::size(known); ++i)
    examine_sizes(found, kTensors[i], problem, rounding, known[i], result);
}

constexpr double kFloat = 0x1p-24, kDouble = 0x1p-53;

// float64 throughout, angles of a rotation as well.
constexpr const char* kTurned = "causal/P1/b1/hq2/hkv1/s9/d4/dv4/rope:half[100]";
constexpr Sizes kOfTurned[] = {
    {74.9959, 7.79399}, {201.319, 12.6345}, {417.065, 18.2737}, {1242.74, 44.6249}, {683.345, 24.4827}};

// float32 throughout.
constexpr Sizes kOfFloat[] = {
    {63.12, 8.177}, {153.2, 12.58}, {233.2, 15.11}, {671.3, 36.14}, {475.9, 21.89}};

// Whatever a formula speaks of: documents, grouped queries, scaled frequencies and rough angles,
// passes of two precisions, additions that are rough beside some P, operands of tf32, dS scaled first, sums that are
// chopped, blocks of 4, partial results and gradients in 16 bit, unlike numbers of which are merged by differences, and
// underflow that is not small.
constexpr const char* kRough = "doc[5,3:5,2]/P1/b2/hq4/hkv2/s12/d8/dv4/rope:half[100,llama3,8,1,4,8]";
const reference::Contract kForward{.u_a = 0x1p-11, .u_p = 0x1p-9, .eta_p = 0x1p-12, .u_o = 0x1p-9, .eta_o = 0x1p-11,
                                   .eta_e = 0x1p-13, .u_in = 0x1p-11, .u_m = 0x1p-10, .kappa = 4,
                                   .c_e = 9, .u_d = 0x1p-9, .chops_after = 0.25};
const reference::Contract kBackward{.u_a = 0x1p-14, .u_p = 0x1p-10, .eta_p = 0x1p-14, .u_o = 0x1p-12,
                                    .eta_o = 0x1p-10, .eta_e = 0x1p-15, .u_m = 0x1p-11, .kappa = 2, .c_e = 7, .scales_ds = true,
                                    .chops_after = 0.03};
const reference::Partials kPartials{3, 20, 70};
constexpr Sizes kOfRough[] = {
    {860572, 140423}, {1.42846e6, 93791.1}, {2.07903e6, 183353}, {6.18471e6, 398460}, {4.71967e6, 214778}};

// Of some keys, with O and LSE of an implementation: without the errors of these, which it made.
constexpr Sizes kOfSampledKeys[] = {{339.5, 15.2174}, {429.99, 20.8154}};

void examine_sample_of_keys(SelfTest& result) {
  const Known known(kProblems[0]);
  const reference::Sample sample{{0, 3, 7}, {1, 4, 10}, known.plain.o, known.plain.lse};
  const at::Tensor keys = at::tensor(sample.keys, at::kLong);
  const reference::Judge judge(known.inputs, reference::Contract{}, 1, {}, {}, sample);
  const reference::Judgement found = judge({0, 4}, at::kCPU);  // of all pairs
  const std::string problem = c10::str("a sample of ", kProblems[0]);
  const Sizes* sizes = kOfSampledKeys;
  for (const NamedTensor& named : kTensors) {
    if (!is_of_keys(named)) continue;
    result.demand(agree(found.value.*named.tensor, (known.plain.*named.tensor).flatten(0, 1).index_select(1, keys)),
                  c10::str("the reference has another ", named.name, " than plain loops in ", problem));
    examine_sizes(found, named, problem, kFloat, *sizes++, result);
  }
}

// Each further rounded result that a row is merged from adds as much to the bounds as the one before, in first order of u.
void examine_partials(const Truth& truth, const Known& known, SelfTest& result) {
  for (const auto& [name, tensor, slack] : {std::tuple("lse", &reference::Tensors::lse, 1e-6), {"o", &reference::Tensors::o, 1e-3}}) {
    const auto bound = [&, of = tensor](int partials) {
      return (truth(known.inputs, reference::Contract{}, partials, {}, {}).bound.*of).sum().template item<double>();
    };
    const double three = bound(3), six = bound(6), twelve = bound(12);
    result.demand(std::abs(twelve - six - 2 * (six - three)) <= slack * twelve,
                  c10::str("the bound of ", name, " is ", three, " of 3 partial results, ", six, " of 6 and ", twelve, " of 12"));
  }
}

void examine_sizes(const Truth& truth, SelfTest& result) {
  const Known known(kProblems[0]);
  examine_partials(truth, known, result);
  examine_sizes(truth(known.inputs, reference::Contract{}, 1, {}, {}), kProblems[0], kFloat, kOfFloat, result);
  const Known turned(kTurned);
  examine_sizes(truth(turned.inputs, contract_of(turned.test), 1, reference_rope(turned.test), {}), kTurned, kDouble, kOfTurned, result);
  const Case test = parse_case(c10::str(kRough, "/float64"));
  const Problem p = problem_of(test);
  reference::Rope rope = reference_rope(test);
  rope.u_angle = 0x1p-12;
  const reference::Inputs inputs{p.q.nan_to_num(0), p.k.nan_to_num(0), p.v.nan_to_num(0),
                                 p.d_o.nan_to_num(0), mask_of(test), scale_of(test)};
  examine_sizes(truth(inputs, {kForward, kBackward}, kPartials, rope, kManyTiles), kRough, kFloat, kOfRough, result);
}

}  // namespace

reference::Judgement true_judgement(const reference::Inputs& inputs,
                                    const reference::Contracts& contracts, reference::Partials partials,
                                    const reference::Rope& rope, const reference::Tiling& tiling) {
  return reference::judge(inputs, contracts, partials, rope, tiling);
}

void examine_truth(const Truth& truth, SelfTest& result) {
  for (const char* text : kProblems) {
    const Known known(text);
    examine_values(truth, known, {}, result);
    examine_values(truth, known, kManyTiles, result);
  }
  examine_sizes(truth, result);
  examine_sample_of_keys(result);
}

}  // namespace ringcheck::parity
