// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// Where the mask of the first tokens does not depend on how many follow.
std::vector<Run> runs(const Case& test) {
  const bool any_length = std::holds_alternative<Causal>(test.mask) ||
                          std::holds_alternative<Window>(test.mask);
  if (!any_length || test.seq < 3) return {};
  Case shorter = test;
  shorter.seq = test.seq - test.seq / 3;
  shorter.lengths = lengths_within(test.lengths, shorter.seq);
  // The same first tokens, also where the data depend on the length.
  return {Run{shorter, [test](const Case&, const Positions& p) { return problem_of(test, p); }}};
}

OracleVerdict judge(const Evidence& e) {
  const Run shorter = runs(e.test).front();
  const Image first = [&](const reference::Tensors& x) {
    return reference::Tensors{x.o.narrow(2, 0, shorter.test.seq),
                              x.lse.narrow(2, 0, shorter.test.seq), {}, {}, {}};
  };
  return agree(shorter.test, image(measured(e, shorter, e.variations.front()), first),
               image(measured(e, {e.test}, e.outcome), first));
}

const Oracles::Add registered{
    "prefix",
    {.proves = "F of the first tokens alone is the first rows of F, within the bounds of both",
     .judge = judge, .variations = runs, .cost = "further runs, and parity of each", .one_in = 10,
     .reads = {"lse"}}};

}  // namespace
}  // namespace ringcheck::parity
