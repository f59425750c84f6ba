// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "parity/case/case.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

using parity::BadCase;
using parity::Case;

// parse(print(c)) = c, and the text form is canonical.
RC_GTEST_PROP(CaseText, ParsesBackWhatItPrints, ()) {
  const Case test = *gen::test_case();
  const std::string text = parity::to_text(test);
  RC_ASSERT(parity::parse_case(text) == test);
  RC_ASSERT(parity::to_text(parity::parse_case(text)) == text);
}

RC_GTEST_PROP(CaseJson, ComesBackFromJson, ()) {
  const Case test = *gen::test_case();
  RC_ASSERT(parity::case_from_json(parity::to_json(test)) == test);
}

TEST(Work, OfACaseIsExactAndOfOneBeyondAllBoundsTheMost) {
  Case test = parity::parse_case("s10/hq2/hkv2/d8/dv4");
  EXPECT_EQ(parity::work_of(test), 2 * 10 * 10 * (8 * 8 + 6 * 4));
  test.seq = int64_t{1} << 40;
  EXPECT_EQ(parity::work_of(test), int64_t{1} << 62);
}

TEST(CaseText, IsTheDocumentedOne) {
  const std::string text =
      "ring:alltoall/headtail/plain/causal/thread/cpu/P4/b1/hq8/hkv2/s1024/d64/dv64/bf16/rope:none/"
      "scale:default/spread3/seed7";
  EXPECT_EQ(parity::to_text(parity::parse_case(text)), text);
}

TEST(CaseText, TakesPartsInAnyOrderAndFillsInTheRest) {
  const Case test = parity::parse_case("s1K/doc[9:12,8,1004]/P3/d48/hq6/striped[16]/ring:allgather[keep]");
  EXPECT_EQ(test.seq, 1024);
  EXPECT_EQ(test.dim_v, 48);     // follows d
  EXPECT_EQ(test.kv_heads, 6);   // follows hq
  EXPECT_EQ(test.block, 16);
  EXPECT_EQ(test.arguments, ":allgather[keep]");
  EXPECT_EQ(parity::mask_text(test.mask), "doc[9:12,8,1004]");
  EXPECT_EQ(parity::parse_case("doc[9:12,8]").seq, 20);  // follows the documents
}

struct Wrong {
  const char* text;
  const char* says;  // the message must name the value and the way out
};

class BadText : public testing::TestWithParam<Wrong> {};

TEST_P(BadText, IsRefusedWithAReason) {
  try {
    parity::parse_case(GetParam().text);
    FAIL() << GetParam().text << " was accepted";
  } catch (const BadCase& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(GetParam().says));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Case, BadText,
    testing::Values(Wrong{"ring:teleport", "known: allgather, alltoall, p2p"},
                    Wrong{"tree:p2p", "means nothing"}, Wrong{"hq8/hkv3", "not a multiple of kv-heads 3"},
                    Wrong{"d0", "dim is 0"}, Wrong{"P0", "world is 0"}, Wrong{"P999", "at most 256"},
                    Wrong{"s0", "seq is 0"}, Wrong{"window[0]", "at least 1"},
                    Wrong{"window", "needs one number"}, Wrong{"doc[3,4]/s9", "seq is 9"},
                    Wrong{"doc[5:4]", "SLOTS >= LENGTH"}, Wrong{"doc[]", "needs document lengths"},
                    Wrong{"striped[0]", "at least 1"}, Wrong{"headtail[3]", "takes no parameter"},
                    Wrong{"bf17", "means nothing"}, Wrong{"rope:half[0]", "must be above 1"},
                    Wrong{"rope:spiral", "known: none, half[BASE]"}, Wrong{"rope:half[10000,x]", "llama3"},
                    Wrong{"d7/rope:half[10000]", "even dim"}, Wrong{"P2/P3", "twice"},
                    Wrong{"scale:nan", "neither 0 nor from 1e-30 to 10000"}, Wrong{"scale:x", "not a number"},
                    Wrong{"s12x", "not a size"}, Wrong{"ring:p2p[loud]", "[keep]"}, Wrong{"ring:p2p[keep]", "use allgather[keep]"},
                    Wrong{"causal[3]", "unknown mask"}, Wrong{"doc[3", "'[' without ']'"},
                    Wrong{"routing/s300/d8", "number of a key in 9 channels, dim is 8"},
                    Wrong{"routing/scale:0", "use a scale further from 0"},
                    Wrong{"routing/rope:half[10000]", "use rope none"},
                    Wrong{"equal-keys/rope:half[10000]", "use rope none"},
                    Wrong{"snap/full/s64/scale:0.3", "use scale 0.25"},
                    Wrong{"snap/causal/s64/d16", "use full or docfull"},
                    Wrong{"snap/docfull[16,12]/d16", "2^k keys"}));

TEST(CaseText, RefusesTheFlashKernelForOtherValueDims) {
  EXPECT_TRUE(parity::not_supported(parity::parse_case("flash/d16/dv8")).has_value());
  EXPECT_FALSE(parity::not_supported(parity::parse_case("flash/d16/dv16")).has_value());
  EXPECT_TRUE(parity::not_supported(parity::parse_case("cuda")).has_value());
}

}  // namespace
}  // namespace ringcheck
