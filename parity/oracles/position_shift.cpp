// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <algorithm>

#include "cp/layout/shard.h"
#include "parity/judge/reference_rope.h"
#include "parity/judge/relation.h"
#include "reference/tiles/turn.h"

namespace ringcheck::parity {
namespace {

// A third of the sequence: how far tokens move, and how many keys a query sees. Queries whose whole
// window moves along are judged.
int64_t third(const Case& test) { return test.seq / 3; }

// The tokens of the case, moved to later positions; the last ones come first. Under a window, so
// that what is left behind is not seen.
Run moved(const Case& test, int64_t by) {
  Case windowed = test;
  windowed.mask = Window{third(test)};
  return {windowed, [test, by](const Case&, const Positions& positions) {
            std::vector<Span> before;
            for (const int64_t p : flatten(positions))
              before.push_back({p < test.seq ? (p - by + test.seq) % test.seq : p, 1});
            Problem problem = problem_of(test, before);
            for (at::Tensor* x : {&problem.q, &problem.k, &problem.v, &problem.d_o})
              x->nan_to_num_(0);
            return problem;
          }};
}

// In packed documents a token that moves to another document has another position there; in a batch
// entry that is shorter than others it would move to a pad.
std::vector<Run> runs(const Case& test) {
  const Mask mask = mask_of(test);
  if (third(test) == 0 || documents(mask) != nullptr || !test.lengths.empty()) return {};
  return {moved(test, 0), moved(test, third(test))};
}

// |a| + |b| of each pair of channels, in the places of both: more than any angle makes of them.
at::Tensor pair_size(const Case& test, const at::Tensor& x) {
  const at::Tensor one = at::ones({}, x.options());
  return reference::mix_pairs(x.abs(), reference_rope(test).pairing, one, one, one);
}

// How far a rotated number may be from one whose angle is exact up to a turn that all positions
// share: p f is rounded once, where p < S and f <= 1, and the rest is as in the oracle rope.
at::Tensor turning_error(const Case& test, const Promise& promise, const at::Tensor& x) {
  const reference::Contract& c = promise.contract;
  const double rounding = test.dtype == at::kFloat ? 0x1p-24 : c.u_o;
  const at::Tensor size = pair_size(test, x);
  const double relative = 8 * c.u_a + rounding + promise.u_angle * static_cast<double>(test.seq);
  return size * relative + at::where(size > 0, c.eta_o + c.eta_e, 0.0);
}

// How far the scores of a query may differ between the two runs, at most, [batch, q_heads, seq].
at::Tensor score_error(const Case& test, const Promise& promise, const Problem& problem) {
  const int64_t group = test.q_heads / test.kv_heads;
  const at::Tensor q = problem.q.to(at::kDouble);
  if (test.rope.pairing == Rope::Pairing::kNone) return at::zeros_like(q.select(3, 0));
  const at::Tensor k = problem.k.to(at::kDouble).repeat_interleave(group, 1);
  const at::Tensor dq = turning_error(test, promise, q), dk = turning_error(test, promise, k);
  const at::Tensor largest_k = (pair_size(test, k) + dk).amax(2, true);
  const at::Tensor largest_dk = dk.amax(2, true);
  return 2 * std::abs(scale_of(test)) * (dq * largest_k + pair_size(test, q) * largest_dk).sum(-1);
}

// A score that is off by e moves P by a factor of exp(2 e) at most. As sigma serves a third of it.
void allow(const Case& test, const Promise& promise, const Problem& problem, Measured& run) {
  const at::Tensor e = score_error(test, promise, problem);
  const at::Tensor v = problem.v.to(at::kDouble).abs().amax(2, true).repeat_interleave(
      test.q_heads / test.kv_heads, 1);
  const at::Tensor of_o = (2 * e).expm1().unsqueeze(3) * v;
  run.bound.o = run.bound.o + of_o;
  run.bound.lse = run.bound.lse + e;
  run.sigma.o = (run.sigma.o.square() + (of_o / 3).square()).sqrt();
  run.sigma.lse = (run.sigma.lse.square() + (e / 3).square()).sqrt();
}

OracleVerdict judge(const Evidence& e) {
  const std::vector<Run> both = runs(e.test);
  const int64_t by = third(e.test), first = third(e.test) - 1;
  const auto rows_from = [&](int64_t begin) -> Image {
    return [=, rows = e.test.seq - by - first](const reference::Tensors& x) {
      const auto cut = [&](const at::Tensor& t) {
        return t.defined() ? t.narrow(2, begin, rows) : t;
      };
      return reference::Tensors{cut(x.o), cut(x.lse), {}, {}, {}};
    };
  };
  Measured here = measured(e, both[0], e.variations[0]);
  allow(e.test, e.promise(),
        both[0].problem(both[0].test, {{0, e.test.seq}}).to(here.value.o.device()), here);
  const Measured there = measured(e, both[1], e.variations[1]);
  return agree(e.test, image(here, rows_from(first)), image(there, rows_from(first + by)));
}

const Oracles::Add registered{
    "position-shift",
    {"moving all tokens that a query sees by the same number of positions moves its O and LSE "
     "along, within bounds",
     judge, runs, Oracle::Rigour::kBound, "further runs, and parity of each",
     "three positions in one document, and a kernel that takes windows"}};

}  // namespace
}  // namespace ringcheck::parity
