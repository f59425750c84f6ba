// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/exact/exact.h"
#include "parity/judge/exact/routes.h"

namespace ringcheck::parity {
namespace {

// The row of v that each query chose; 0 where it sees no key.
at::Tensor chosen(const Case& test, const Problem& problem, const Routes& routes) {
  const at::Tensor v = for_query_heads(test, problem.v).nan_to_num();
  const at::Tensor rows = routes.key.unsqueeze(3).expand_as(v);
  return v.gather(2, rows).masked_fill(routes.score.isneginf().unsqueeze(3), 0);
}

OracleVerdict judge(const Evidence& evidence) {
  const Case& test = evidence.test;
  if (test.data != "routing") return not_applicable("queries do not choose one key each");
  const Routes routes = routes_of(evidence);
  const reference::Contract contract = evidence.promise().contract;
  const double last_place = 2 * contract.u_a;  // at most, relative; and exp(0) may not be 1
  const at::Tensor error = (3 * last_place * routes.score.abs() + contract.c_e * contract.u_a)
                               .masked_fill(routes.score.isinf(), 0);
  const at::Tensor o = chosen(test, evidence.problem, routes);
  const at::Tensor merged = error_of_merges(evidence).expand_as(o).masked_fill(routes.score.isinf().unsqueeze(3), 0);
  return verdict_of({compare_exact(test, "o", evidence.outcome.tensors.o, o, merged),
                     compare_exact(test, "lse", evidence.outcome.tensors.lse, routes.score, error)});
}

const Oracles::Add registered{
    "routing",
    {"where one score S_i,pi(i) is 110 above all others (750 in float64), O_i = v_pi(i) in every bit (but for 6 u_d "
     "of the largest v where merges by differences are promised) and L_i = S_i,pi(i) to 3 units in the last place "
     "and the error of exp",
     judge, {}, Oracle::Rigour::kExact, "one product of S x S x d in float64 a head"}};

}  // namespace
}  // namespace ringcheck::parity
