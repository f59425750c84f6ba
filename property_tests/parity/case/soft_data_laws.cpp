// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/data/soft_data.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

// What of a profile is asked of a subject whose rounding may be any.
namespace ringcheck::parity {
namespace {

// Of smoke, in a dtype that the subject may have asked for.
rc::Gen<Case> fitted() {
  return rc::gen::map(rc::gen::pair(gen::of({smoke_ranges(), "cpu"}),
                                    gen::choice<at::ScalarType>({at::kBFloat16, at::kHalf, at::kFloat})),
                      [](std::pair<Case, at::ScalarType> drawn) {
                        drawn.first.dtype = drawn.second;
                        return drawn.first;
                      });
}

RC_GTEST_PROP(SuitedData, HaveEightChannelsIn16BitsAndWhatTheyHadInMore, ()) {
  const Case before = *fitted();
  Case test = before;
  const bool wider = widen(test);
  RC_ASSERT(wider == (test != before));
  RC_ASSERT(wider == (before.dtype != at::kFloat && std::min(before.dim, before.dim_v) < 8));
  RC_ASSERT(!wider || std::min(test.dim, test.dim_v) == 8);
}

// Snap wants a power of two as scale, a rotation an even width.
RC_GTEST_PROP(SuitedData, AreDataThatTheCaseCanHave, ()) {
  Case test = *fitted();
  widen(test);
  suit_data(test);
  validate(test);  // or throws
}

}  // namespace
}  // namespace ringcheck::parity
