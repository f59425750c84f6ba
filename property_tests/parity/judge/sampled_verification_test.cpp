// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Verification of a sample of queries and keys: right subjects pass, wrong ones fail by name.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "property_tests/parity/oracles/spoilt.h"

namespace ringcheck {
namespace {

using parity::Case;
using parity::RankOutput;
using parity::Status;

// Of N queries and keys.
parity::Verdict verify_sampled(const Case& test, int64_t sample,
                               const std::function<void(RankOutput&)>& spoil = [](auto&) {},
                               const std::function<void(parity::Promise&)>& promise = {}) {
  parity::RunOptions options;
  options.judging.sample = sample;
  return verify_spoilt(
      test, [&](Communicator&, RankOutput& output) { spoil(output); }, options, promise);
}

const parity::OracleVerdict& parity_of(const parity::Verdict& verdict) {
  return oracle(verdict, "parity");
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const char* dtype : {"float64", "float32", "bf16", "fp16"})
    for (const char* mask : {"causal", "window[9]", "doc[20:22,15]", "prefix[7]"})
      list.push_back(parity::parse_case(std::string("ring:p2p/headtail/") + mask +
                                        "/P3/b2/hq4/hkv2/s37/d8/dv12/" + dtype +
                                        "/rope:half[10000]"));
  return list;
}

TEST(SampledVerification, AcceptsAnUntouchedOutcome) {
  for (const Case& test : cases()) {
    const parity::Verdict verdict = verify_sampled(test, 12);
    EXPECT_EQ(verdict.status, Status::kPass) << parity::to_text(test) << verdict.reason;
    for (const parity::TensorVerdict& tensor : parity_of(verdict).tensors) {
      EXPECT_EQ(tensor.status, Status::kPass) << tensor.tensor << " " << parity::to_text(test);
      EXPECT_GT(tensor.rms_z, 0);
    }
  }
}

TEST(SampledVerification, RejectsEverySpoiltTensor) {
  const std::pair<const char*, std::function<void(at::Tensor&)>> wrongs[] = {
      {"zero", [](at::Tensor& x) { x.zero_(); }},
      {"constant", [](at::Tensor& x) { x.fill_(0.5); }},
      {"infinity", [](at::Tensor& x) { x.fill_(INFINITY); }},
      {"NaN", [](at::Tensor& x) { x.fill_(NAN); }},
      {"heads swapped", [](at::Tensor& x) { x = x.flip(1); }},
      {"batch swapped", [](at::Tensor& x) { x = x.flip(0); }},
      {"rows swapped", [](at::Tensor& x) { x = x.roll(1, 2); }},
      {"10 % too large", [](at::Tensor& x) { x.mul_(1.1); }},
      {"of the other shape", [](at::Tensor& x) { x = x.narrow(1, 0, 1); }}};
  for (const Case& test : cases())
    for (const char* name : {"o", "lse", "dq", "dk", "dv"})
      for (const auto& [what, spoil] : wrongs) {
        const parity::Verdict verdict =
            verify_sampled(test, 12, [&](RankOutput& output) { spoil(of(output, name)); });
        EXPECT_EQ(verdict.status, Status::kFail)
            << what << " " << name << " in " << parity::to_text(test);
        EXPECT_THAT(parity_of(verdict).findings,
                    testing::Contains(testing::StartsWith(std::string(name) + ":")))
            << what << " in " << parity::to_text(test);
      }
}

// What a sample says where it is all of the sequence is what a full verification says.
TEST(SampledVerification, OfEverythingIsFull) {
  const Case test = cases()[8];
  const auto full = parity_of(verify_sampled(test, 0)).tensors;
  const auto all = parity_of(verify_sampled(test, test.seq)).tensors;
  ASSERT_EQ(full.size(), all.size());
  for (size_t i = 0; i < full.size(); ++i) {
    EXPECT_EQ(full[i].max_z, all[i].max_z);
    EXPECT_EQ(full[i].rms_z, all[i].rms_z);
  }
}

// dK and dV of a sample follow from LSE: where a subject has none to show they are not judged, and
// that is no pass.
TEST(SampledVerification, NeedsLse) {
  const parity::Verdict verdict =
      verify_sampled(cases()[8], 12, [](RankOutput& output) { output.lse.reset(); },
                     [](parity::Promise& promise) { promise.shows.erase("lse"); });
  EXPECT_EQ(verdict.status, Status::kInconclusive);
  EXPECT_EQ(parity_of(verdict).tensors.at(3).status, Status::kInconclusive);
  EXPECT_EQ(parity_of(verdict).tensors.at(0).status, Status::kPass);
}

// Of long sequences the truth of one key head after the other is made, and the place is that of all.
TEST(Verification, NamesTheHeadWhereverTheTruthIsCut) {
  const Case test = parity::parse_case("ring:p2p/contiguous/full/P1/b2/hq3/hkv3/s700/d2/dv2/float32");
  for (const int64_t head : {0, 1, 2}) {
    const parity::Verdict verdict = verify_sampled(test, 0, [&](RankOutput& output) { output.o[1][head][650][1] += 1; });
    EXPECT_THAT(parity_of(verdict).tensors.at(0).worst,
                testing::HasSubstr(c10::str("batch 1, head ", head, ", position 650, channel 1")));
  }
}

}  // namespace
}  // namespace ringcheck
