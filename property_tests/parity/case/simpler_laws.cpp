// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/simpler.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "parity/case/regressions.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

// How cases are drawn, and how they shrink.
namespace ringcheck {
namespace {

using parity::Case;

rc::Gen<Case> searched() { return gen::of({parity::search_ranges(8), "cpu"}); }

// A simpler case is one that can run, and another one.
RC_GTEST_PROP(Simpler, CasesAreValidAndSupported, ()) {
  const Case test = *searched().as("case");
  for (const Case& next : parity::simpler(test)) {
    RC_LOG() << parity::to_text(next) << std::endl;
    parity::validate(next);
    RC_ASSERT(!parity::not_supported(next));
    RC_ASSERT(parity::parse_case(parity::to_text(next)) == next);
    RC_ASSERT_FALSE(next == test);
  }
}

// Whichever simpler case is taken, again and again, in the end there is none.
RC_GTEST_PROP(Simpler, EveryPathEnds, ()) {
  Case test = *searched().as("case");
  const uint64_t seed = *gen::seed().as("path");
  const parity::Draw draw = parity::drawn_from(seed);
  int steps = 0;
  for (std::vector<Case> next = parity::simpler(test); !next.empty(); next = parity::simpler(test)) {
    test = next.at(static_cast<size_t>(draw(0, static_cast<int64_t>(next.size()) - 1)));
    RC_ASSERT(++steps < 400);
  }
}

// There is one simplest case: nothing that could be taken away is left.
RC_GTEST_PROP(Simpler, TheBoldestPathEndsAtTheSimplestCase, ()) {
  Case test = *searched().as("case");
  for (std::vector<Case> next = parity::simpler(test); !next.empty(); next = parity::simpler(test))
    test = next.front();
  RC_ASSERT(parity::to_text(test) ==
            "ring:p2p/contiguous/plain/full/thread/cpu/P1/b1/hq1/hkv1/s1/d1/dv1/float64/rope:none/"
            "scale:default/normal/seed1");
}

// What a space draws does not depend on RapidCheck's size: the first case is as rich as the last.
TEST(Cases, AreAsRichAtSizeZero) {
  std::set<int> worlds;
  std::set<std::string> masks;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Case test = searched()(rc::Random(seed), 0).value();
    worlds.insert(test.world);
    masks.insert(parity::mask_text(test.mask));
  }
  EXPECT_EQ(worlds.size(), 8U);
  EXPECT_GT(masks.size(), 100U);
}

// The same seed draws the same case.
RC_GTEST_PROP(Cases, FollowFromTheSeed, ()) {
  const uint64_t seed = *gen::seed().as("seed");
  RC_ASSERT(searched()(rc::Random(seed), 1).value() == searched()(rc::Random(seed), 99).value());
}

TEST(Regressions, AreCasesWithAReason) {
  ASSERT_GE(parity::regressions().size(), 15U);
  for (const parity::Regression& entry : parity::regressions()) {
    EXPECT_FALSE(entry.issue.empty());
    EXPECT_FALSE(entry.what.empty());
    EXPECT_EQ(parity::upstream_issue(parity::parse_case(entry.text)), entry.issue);
  }
  EXPECT_THROW(parity::parse_regression("ring:p2p/P2"), parity::BadCase);
  EXPECT_THROW(parity::parse_regression("ring:nowhere/P2 here: why"), parity::BadCase);
  EXPECT_TRUE(parity::parse_regression("large ring:p2p/P2 here: why").large);
}

}  // namespace
}  // namespace ringcheck
