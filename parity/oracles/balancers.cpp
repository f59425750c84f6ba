// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

std::vector<Run> runs(const Case& test) {
  Case other = test;
  other.balance = test.balance == "contiguous" ? "headtail" : "contiguous";
  other.block = 1;
  return {Run{other}};
}

OracleVerdict judge(const Evidence& e) {
  return agree(e.test, measured({e.test}, e.outcome, e.tick),
               measured(runs(e.test).front(), e.variations.front(), e.tick));
}

const Oracles::Add registered{
    "balancers",
    {"F under one load balancer is F under another, in sequence order, within the bounds of "
     "both",
     judge, runs,
     Oracle::Rigour::kBound, "further runs, and parity of each"}};

}  // namespace
}  // namespace ringcheck::parity
