// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// A fast path of the reference is held to the plain form: one that is wrong in anything is noticed.
#include "reference/tiles/fast_path.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "parity/judge/device_test.h"
#include "property_tests/reference/reference_problems.h"
#include "reference/errors/bounds.h"
#include "reference/tiles/device_check.h"

namespace ringcheck::reference_testing {
namespace {

using namespace reference;

constexpr uint64_t kSeed = 0x123456789;

// The plain form on the CPU, changed afterwards.
FastPath changed(const std::function<void(Solution&)>& change) {
  return {"fake", [](const reference::Group& group) { return group.q.is_cpu(); },
          [change](const reference::Group& group, const Tiles& tiles) {
            Solution solution = attend_plainly(group, tiles, {});
            change(solution);
            return solution;
          }};
}

TEST(FastPath, NoneIsNoDifference) {
  EXPECT_EQ(device_difference(at::kCPU, kSeed), std::nullopt);
}

TEST(FastPath, APathLikeThePlainFormPasses) {
  const RegisteredFastPath path(changed([](Solution& s) { s.o *= 1 + 0x1p-52; }));
  EXPECT_EQ(device_difference(at::kCPU, kSeed), std::nullopt);
}

struct Member {
  const char* name;
  at::Tensor Solution::*tensor;
};
const Member kMembers[] = {{"o", &Solution::o}, {"max", &Solution::max}, {"lse", &Solution::lse}};

TEST(FastPath, AnyWrongTensorIsNoticedAndNamed) {
  const std::pair<const char*, std::function<void(at::Tensor&)>> wrongs[] = {
      {"zero", [](at::Tensor& x) { x.zero_(); }},
      {"in float32", [](at::Tensor& x) { x = x.to(at::kFloat).to(at::kDouble); }},
      {"one NaN", [](at::Tensor& x) { x.view(-1)[x.numel() / 3] = NAN; }},
      {"all in another order", [](at::Tensor& x) { x = x.roll(x.numel() / 2); }},
      {"of another shape", [](at::Tensor& x) { x = x.narrow(-1, 0, 1); }}};
  for (const Member& member : kMembers)
    for (const auto& [what, spoil] : wrongs) {
      const RegisteredFastPath path(changed([&](Solution& s) { spoil(s.*member.tensor); }));
      const auto found = device_difference(at::kCPU, kSeed);
      ASSERT_TRUE(found.has_value()) << what << " " << member.name;
      EXPECT_THAT(*found, testing::HasSubstr(std::string(" in ") + member.name + " by "))
          << what;
      EXPECT_THAT(*found, testing::HasSubstr("'fake'"));
    }
}

// What the gradients beside their bounds are made of, and no verdict looks at.
TEST(FastPath, AWrongSumOrDeltaIsNoticedInTheGradients) {
  for (at::Tensor Solution::*tensor : {&Solution::sum, &Solution::delta}) {
    const RegisteredFastPath path(changed([&](Solution& s) { (s.*tensor) *= 1 + 1e-6; }));
    const auto found = device_difference(at::kCPU, kSeed);
    ASSERT_TRUE(found.has_value());
    EXPECT_THAT(*found, testing::ContainsRegex(" in d[qkv] by "));
  }
}

// The start of a run on such a device.
TEST(FastPath, AWrongOneFailsTheSelfTest) {
  EXPECT_NO_THROW(parity::test_devices({at::kCPU, at::kCPU}));
  const RegisteredFastPath path(changed([](Solution& s) { s.delta += 1e-6; }));
  try {
    parity::test_devices({at::kCPU, at::kCPU});
    FAIL() << "nothing was noticed";
  } catch (const parity::SelfTestFailed& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("'fake'"));
    EXPECT_THAT(error.what(), testing::ContainsRegex(" in d[qk] by "));
  }
}

// attend() takes the path while it is registered, and only where it applies; solve() never does.
TEST(FastPath, IsTakenWhileItLives) {
  const Inputs in = draw({}, {Causal{}, 48}, 3);
  const auto o = [&] { return judge(in, Contract{}, 1, reference::Rope{}).value.o; };
  const at::Tensor plain = o();
  {
    const RegisteredFastPath path(changed([](Solution& s) { s.o.fill_(7); }));
    EXPECT_TRUE((o() == 7).all().item<bool>());
    EXPECT_FALSE((attention(in).o == 7).any().item<bool>());
  }
  {
    FastPath elsewhere = changed([](Solution& s) { s.o.fill_(7); });
    elsewhere.applies = [](const reference::Group&) { return false; };
    const RegisteredFastPath path(elsewhere);
    EXPECT_TRUE(o().equal(plain));
  }
  EXPECT_TRUE(o().equal(plain));
}

}  // namespace
}  // namespace ringcheck::reference_testing
