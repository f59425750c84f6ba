// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

std::vector<Run> runs(const Case& test) {
  for (const auto& [name, entry] : Balancers::all()) {
    if (name == test.balance) continue;
    Case other = test;
    other.balance = name;
    other.block = 1;
    return {Run{other}};
  }
  return {};
}

OracleVerdict judge(const Evidence& e) {
  return agree(e.test, measured(e, {e.test}, e.outcome),
               measured(e, runs(e.test).front(), e.variations.front()));
}

const Oracles::Add registered{
    "balancers",
    {"F under one load balancer is F under another, in sequence order, within the bounds of "
     "both",
     judge, runs,
     Oracle::Rigour::kBound, "further runs, and parity of each"}};

}  // namespace
}  // namespace ringcheck::parity
