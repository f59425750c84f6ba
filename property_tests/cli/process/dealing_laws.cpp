// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/sharing/dealing.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck::cli {
namespace {

const std::vector<std::string> kKernels{"tiled", "wgmma", "cudnn", "aten-cudnn", "cudnn-atomic"};

parity::Case drawn_case() {
  parity::Case test;
  test.kernel = *gen::choice(kKernels);
  test.world = static_cast<int>(*gen::between(1, 16));
  test.seq = *gen::between(1, 12000);
  return test;
}

bool is_planned(const parity::Case& test) { return test.kernel.find("cudnn") != std::string::npos; }

// Every case is dealt, once; what is small, of each kind those that take longest first.
RC_GTEST_PROP(Dealing, LeavesNothingOutAndBeginsWithTheLongest, ()) {
  std::vector<parity::Case> cases(*gen::between(0, 60));
  std::ranges::generate(cases, drawn_case);
  std::vector<size_t> indexes(cases.size());
  std::iota(indexes.begin(), indexes.end(), 0);
  const Dealt dealt = deal(cases, indexes);
  for (const size_t index : dealt.large) RC_ASSERT(!is_small(cases[index]));
  double longest[] = {1e30, 1e30};
  for (const size_t index : dealt.small) {
    RC_ASSERT(is_small(cases[index]));
    double& last = longest[is_planned(cases[index]) ? 1 : 0];
    RC_ASSERT(seconds_of(cases[index]) <= last);
    last = seconds_of(cases[index]);
  }
  std::vector<size_t> all = dealt.large;
  all.insert(all.end(), dealt.small.begin(), dealt.small.end());
  std::ranges::sort(all);
  RC_ASSERT(all == indexes);
}

// At any time as large a share of those that plan shapes has been taken as of the others, up to one case.
RC_GTEST_PROP(Dealing, SpreadsThoseThatPlanShapes, ()) {
  std::vector<parity::Case> cases(*gen::between(1, 60));
  std::ranges::generate(cases, drawn_case);
  for (parity::Case& test : cases) test.seq = 16;
  std::vector<size_t> indexes(cases.size());
  std::iota(indexes.begin(), indexes.end(), 0);
  const Dealt dealt = deal(cases, indexes);
  RC_ASSERT(dealt.small.size() == cases.size());
  const int64_t planned = std::ranges::count_if(cases, is_planned), others = std::ssize(cases) - planned;
  int64_t of_planned = 0, of_others = 0;
  for (const size_t index : dealt.small) {
    ++(is_planned(cases[index]) ? of_planned : of_others);
    RC_ASSERT(std::abs(of_planned * others - of_others * planned) <= std::max(planned, others));
  }
}

}  // namespace
}  // namespace ringcheck::cli
