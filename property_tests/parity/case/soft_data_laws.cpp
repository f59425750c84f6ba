// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/data/soft_data.h"

#include <gtest/gtest.h>

#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

// What of a profile is asked of a subject whose rounding may be any.
namespace ringcheck::parity {
namespace {

// A case that has these data: snap wants its scale, widths that a rotation takes apart.
RC_GTEST_PROP(SuitedData, AreDataOfTheCase, ()) {
  Case test = *gen::of({smoke_ranges(), "cpu"});
  const Case before = test;
  const bool wider = widen(test, test.dtype);
  RC_ASSERT(wider == (test != before));
  RC_ASSERT(c10::elementSize(test.dtype) > 2 || std::min(test.dim, test.dim_v) >= 8);
  suit_data(test);
  validate(test);  // or throws
}

}  // namespace
}  // namespace ringcheck::parity
