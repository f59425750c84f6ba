// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients that are added up in 16 bits: allowed where that is said, by what it can explain.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "parity/judge/comparison.h"
#include "parity/judge/conservation/conservation.h"
#include "parity/subject/contract.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

using ::testing::HasSubstr;
using parity::AttentionShard;
using parity::LawVerdict;
using parity::Status;

constexpr int kPartials = 64;  // as guard takes them

std::vector<LawVerdict> judged(const AttentionShard& x, const std::string& accumulation) {
  parity::Arithmetic how{parity::loosest_contract({x.dv.scalar_type()}),
                         1 / std::sqrt(static_cast<double>(x.q.size(3))), kPartials, true, {}, kPartials};
  if (!accumulation.empty()) how.gradients = parity::parse_accumulation(accumulation);
  return judge_conservation(conservation_sums(x), how);
}

bool fails(const LawVerdict& law) { return law.status == Status::kFail; }
bool passes(const LawVerdict& law) { return law.status == Status::kPass; }

std::string text(const std::vector<LawVerdict>& laws) {
  std::string all;
  for (const LawVerdict& law : laws) all += law.text() + "\n";
  return all;
}

// PyTorch's attention on CPUs, which rounds dK and dV after every 256 queries. The first of them ask
// for most, as early queries do of early keys under a causal mask.
AttentionShard of_pytorch(int64_t queries, int64_t keys, bool causal, at::ScalarType dtype,
                          double first = 32) {
  const auto drawn = [&](int64_t seq, uint64_t seed) {
    return normal({1, 2, seq, 16}, seed, dtype);
  };
  AttentionShard x;
  x.q = drawn(queries, 1), x.k = drawn(keys, 2), x.v = drawn(keys, 3), x.d_o = drawn(queries, 4);
  x.d_o.narrow(2, 0, 256).mul_(first);
  const auto [o, lse] = at::_scaled_dot_product_flash_attention_for_cpu(x.q, x.k, x.v, 0.0, causal);
  x.o = o;
  std::tie(x.dq, x.dk, x.dv) = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      x.d_o, x.q, x.k, x.v, o, lse, 0.0, causal);
  return x;
}

TEST(Accumulation, IsReadFromItsText) {
  const parity::Accumulation bf16 = parity::parse_accumulation("bf16[256]");
  EXPECT_EQ(bf16.u, 0x1p-8);
  EXPECT_EQ(bf16.eta, 0x1p-134);
  EXPECT_EQ(bf16.length, 256);
  EXPECT_EQ(parity::parse_accumulation("fp16[1]").u, 0x1p-11);
  EXPECT_EQ(parity::parse_accumulation("fp16[1]").eta, 0x1p-25);
  EXPECT_EQ(parity::parse_accumulation("float32[64]").u, 0x1p-24);
  for (const char* wrong : {"bf16", "bf16[]", "bf16[0]", "bf16[-1]", "bf16[1.5]", "bf16[1,2]",
                            "bf17[8]", "[8]", "bf16[8", "bf16[nan]", "bf16[inf]", "bf16[1e30]"})
    EXPECT_THROW(parity::parse_accumulation(wrong), parity::BadCase) << wrong;
}

// 256 roundings of every dK and dV in bf16, 1024 in fp16. Without the option a right result fails.
TEST(Accumulation, OfPyTorchOnCpusKeepsTheLaws) {
  const struct {
    at::ScalarType dtype;
    const char* option;
    int64_t queries;
  } table[] = {{at::kBFloat16, "bf16[256]", 1 << 16}, {at::kHalf, "fp16[256]", 1 << 18}};
  for (const auto& [dtype, option, queries] : table) {
    const AttentionShard x = of_pytorch(queries, 64, false, dtype);
    const auto without = judged(x, "");
    EXPECT_TRUE(std::ranges::any_of(without, fails)) << option << "\n" << text(without);
    const auto with = judged(x, option);
    EXPECT_TRUE(std::ranges::all_of(with, passes)) << option << "\n" << text(with);
    const AttentionShard causal = of_pytorch(1 << 13, 1 << 13, true, dtype, 1);
    const auto laws = judged(causal, option);
    EXPECT_TRUE(std::ranges::all_of(laws, passes)) << option << "\n" << text(laws);
  }
}

// A factor on dV beyond 8 / power, as the page says, is still seen; half of that is not.
TEST(Accumulation, LeavesAnErrorOfTheSizeThatThePageSays) {
  const AttentionShard x = of_pytorch(1 << 16, 64, false, at::kBFloat16);
  const auto laws = judged(x, "bf16[256]");
  const struct {
    size_t law;
    at::Tensor AttentionShard::*tensor;
  } table[] = {{0, &AttentionShard::dv}, {2, &AttentionShard::dq}, {3, &AttentionShard::o}};
  for (const auto& [law, tensor] : table) {
    const double limit = parity::kStat / laws[law].power;
    EXPECT_LT(limit, 1) << laws[law].text();
    const auto off_by = [&](double error) {
      AttentionShard wrong = x;
      wrong.*tensor = (wrong.*tensor).to(at::kDouble) * (1 + error);
      parity::Arithmetic how{parity::loosest_contract({at::kBFloat16}), 0.25, kPartials, true, {}, kPartials};
      how.gradients = parity::parse_accumulation("bf16[256]");
      return judge_conservation(conservation_sums(wrong), how)[law].status;
    };
    EXPECT_EQ(off_by(1.5 * limit), Status::kFail) << laws[law].law << " " << limit;
    EXPECT_EQ(off_by(0.4 * limit), Status::kPass) << laws[law].law << " " << limit;
  }
}

// A lost run of 256 queries of the last quarter is not taken for rounding.
TEST(Accumulation, ALostRunFails) {
  AttentionShard x = of_pytorch(1 << 13, 64, false, at::kBFloat16, 1);
  ASSERT_TRUE(std::ranges::all_of(judged(x, "bf16[256]"), passes));
  const AttentionShard lost = of_pytorch(1 << 13, 64, false, at::kBFloat16, 0);
  x.dv = lost.dv;
  EXPECT_TRUE(fails(judged(x, "bf16[256]")[0]));
}

// Any length of a run: sums in a format, with everything else exact.
RC_GTEST_PROP(Accumulation, CoarseSumsKeepTheLaws, ()) {
  const auto [dtype, name] = *gen::choice<std::pair<at::ScalarType, std::string>>(
      {{at::kBFloat16, "bf16"}, {at::kHalf, "fp16"}});
  const int64_t length = *gen::choice<int64_t>({1, 2, 3, 8, 40}), runs = *gen::between(2, 160);
  const int64_t seq = std::min<int64_t>(length * runs, 480);
  const bool causal = *gen::flag();
  const uint64_t seed = *gen::seed();
  const auto drawn = [&](uint64_t tensor) {
    return normal({1, 2, seq, 8}, 4 * seed + tensor, dtype).to(at::kDouble);
  };
  AttentionShard x;
  x.q = drawn(0), x.k = drawn(1), x.v = drawn(2), x.d_o = drawn(3);
  const double scale = 1 / std::sqrt(8.0);
  at::Tensor scores = x.q.matmul(x.k.mT()) * scale;
  if (causal) scores.masked_fill_(at::ones({seq, seq}, at::kBool).triu(1), -INFINITY);
  const at::Tensor p = scores.softmax(-1), g = x.d_o.matmul(x.v.mT());
  x.o = p.matmul(x.v).to(dtype);
  const at::Tensor ds = p * (g - (p * g).sum(-1, true)) * scale;
  const auto added_up = [&](const at::Tensor& weights, const at::Tensor& terms) {
    at::Tensor sum = at::zeros_like(terms, dtype);
    for (int64_t at = 0; at < seq; at += length) {
      const int64_t some = std::min(length, seq - at);
      sum = (sum.to(at::kDouble) + weights.narrow(-1, at, some).matmul(terms.narrow(2, at, some)))
                .to(dtype);
    }
    return sum;
  };
  x.dq = added_up(ds, x.k), x.dk = added_up(ds.mT(), x.q), x.dv = added_up(p.mT(), x.d_o);
  const auto laws = judged(x, name + "[" + std::to_string(length) + "]");
  double worst = 0;
  for (const LawVerdict& law : laws) worst = std::max(worst, law.z);
  RC_CLASSIFY(worst > 2, "z above 2");
  RC_CLASSIFY(worst > 4, "z above 4");
  RC_ASSERT(std::ranges::none_of(laws, fails));
}

}  // namespace
}  // namespace ringcheck
