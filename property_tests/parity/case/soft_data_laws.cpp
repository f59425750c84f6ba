// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/data/soft_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "property_tests/cp/attention/passes.h"
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

// A random case in half precision has no gradient that it cannot hold, and wide data wherever it can.
TEST(SoftData, LeavesGradientsTheRangeOfHalf) {
  const auto softened = [](const char* text) {
    Case test = parse_case(text);
    soften(test);
    return test.data;
  };
  EXPECT_EQ(softened("wide/causal/P1/hq4/hkv1/s64/d64/dv64/fp16"), "wide");
  EXPECT_EQ(softened("wide/causal/P1/hq32/hkv1/s64/d8/dv256/fp16"), "spread3");
  EXPECT_EQ(softened("wide/causal/P1/hq32/hkv1/s64/d8/dv256/bf16"), "wide");
  for (int seed = 1; seed <= 40; ++seed)
    for (const char* shape : {"full/P1/b2/hq16/hkv1/s300/d8/dv64", "causal/P1/b1/hq4/hkv2/s400/d16/dv256", "causal/P1/b1/hq8/hkv1/s500/d64/dv128"}) {
      Case test = parse_case(std::string("wide/") + shape + "/fp16/seed" + std::to_string(seed));
      soften(test);
      if (test.data != "wide") continue;
      test.dtype = at::kDouble;
      const reference::Tensors whole = run_pass(test, problem_of(test)).whole;
      for (const at::Tensor& x : {whole.dq, whole.dk, whole.dv}) EXPECT_LT(x.abs().max().item<double>(), 65504) << to_text(test);
    }
}

}  // namespace
}  // namespace ringcheck::parity
