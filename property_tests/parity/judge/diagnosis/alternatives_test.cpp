// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// What somebody who is mistaken computes, by loops of their own, is told by the words for it.
#include "parity/judge/diagnosis/alternatives.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "property_tests/parity/judge/diagnosis/right_answer.h"

namespace ringcheck::parity {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// Causal, head-tail over 4 ranks, 4 key-value heads, each of 2 query heads.
struct Loops {
  static constexpr int64_t kTokens = 32, kRanks = 4, kChunk = kTokens / (2 * kRanks), kHeads = 4, kGroup = 2;
  std::function<bool(int64_t q, int64_t k)> sees = [](int64_t q, int64_t k) { return k <= q; };
  std::function<int64_t(int64_t)> head = [](int64_t h) { return h / kGroup; };
  std::function<bool(int64_t q, int64_t k)> counts = [](int64_t, int64_t) { return true; };
  double scale = 0.25, of_d = 1;
  bool ones = false;

  static int64_t rank(int64_t p) { return std::min(p / kChunk, 2 * kRanks - 1 - p / kChunk); }
  static int64_t slot(int64_t p) { return p % kChunk + (p / kChunk < kRanks ? 0 : kChunk); }
  static int64_t at(int64_t rank, int64_t slot) { return slot < kChunk ? rank * kChunk + slot : (2 * kRanks - 1 - rank) * kChunk + slot - kChunk; }
  static int64_t contiguous(int64_t p) { return rank(p) * 2 * kChunk + slot(p); }

  // o, dq and dk of a problem; dk where heads are those of the problem.
  void solve(const Problem& problem, reference::Tensors& result) const {
    const auto of = [](const at::Tensor& x) { return x.accessor<double, 4>(); };
    const auto q = of(problem.q), k = of(problem.k), v = of(problem.v), d_o = of(problem.d_o);
    result.o = at::zeros_like(problem.d_o);
    result.dq = at::zeros_like(problem.q);
    result.dk = at::zeros_like(problem.k);
    auto o = of(result.o), dq = of(result.dq), dk = of(result.dk);
    const int64_t dim = problem.q.size(3), dim_v = problem.v.size(3);
    for (int64_t h = 0; h < kHeads * kGroup; ++h)
      for (int64_t i = 0; i < kTokens; ++i) {
        std::vector<double> p(kTokens, 0.0), dp(kTokens, 0.0);
        double sum = 0, d = 0;
        for (int64_t j = 0; j < kTokens; ++j) {
          double score = 0;
          for (int64_t c = 0; c < dim; ++c) score += q[0][h][i][c] * k[0][head(h)][j][c];
          if (sees(i, j)) sum += p[j] = std::exp(score * scale);
        }
        for (int64_t j = 0; j < kTokens; ++j) {
          if (sum > 0) p[j] /= sum;
          for (int64_t c = 0; c < dim_v; ++c) {
            o[0][h][i][c] += p[j] * v[0][head(h)][j][c];
            dp[j] += (ones ? 1 : d_o[0][h][i][c]) * v[0][head(h)][j][c];
          }
          d += p[j] * dp[j];
        }
        for (int64_t j = 0; j < kTokens; ++j)
          for (int64_t c = 0; counts(i, j) && c < dim; ++c) {
            const double ds = p[j] * (dp[j] - of_d * d) * scale;
            dq[0][h][i][c] += ds * k[0][head(h)][j][c];
            dk[0][head(h)][j][c] += ds * q[0][h][i][c];
          }
      }
  }
};

TEST(Alternatives, AreWhatTheirWordsSay) {
  using L = Loops;
  const auto sees = [](const std::function<bool(int64_t, int64_t)>& pairs) {
    Loops loops;
    loops.sees = pairs;
    return loops;
  };
  const auto with = [](const std::function<void(Loops&)>& change) {
    Loops loops;
    change(loops);
    return loops;
  };
  const auto moved = [&](const std::function<int64_t(int64_t)>& to) {
    return sees([to](int64_t q, int64_t k) { return to(k) <= to(q); });
  };
  const auto back = [](int64_t p) { return L::at(p / (2 * L::kChunk), p % (2 * L::kChunk)); };
  const struct {
    std::string words, tensors;
    Loops loops;
  } table[] = {
      {"there were no mask", "o", sees([](int64_t, int64_t) { return true; })},
      {"every rank attended to the keys of others alone", "o", sees([](int64_t q, int64_t k) { return k <= q && L::rank(q) != L::rank(k); })},
      {"the keys of rank 2 were missing", "o", sees([](int64_t q, int64_t k) { return k <= q && L::rank(k) != 2; })},
      {"the block of step 2 of a ring were missing", "o", sees([](int64_t q, int64_t k) { return k <= q && (L::rank(q) + 4 - L::rank(k)) % 4 != 2; })},
      {"the block of step 1 of a ring were missing", "o", sees([](int64_t q, int64_t k) { return k <= q && (L::rank(q) + 4 - L::rank(k)) % 4 != 1; })},
      {"each block of keys were taken for that of the rank 1 place further on", "o",
       sees([](int64_t q, int64_t k) { return L::at((L::rank(k) + 1) % 4, L::slot(k)) <= q; })},
      {"shards were contiguous", "o", moved(L::contiguous)},
      {"shards were contiguous, of keys alone", "o", sees([](int64_t q, int64_t k) { return L::contiguous(k) <= q; })},
      {"shards were contiguous, of queries alone", "o", sees([](int64_t q, int64_t k) { return k <= L::contiguous(q); })},
      {"shards were cut contiguous, and taken for headtail", "o", moved(back)},
      {"positions were counted within the shards, of queries alone", "o", sees([](int64_t q, int64_t k) { return k <= L::slot(q); })},
      {"scores were not scaled", "o", with([](Loops& x) { x.scale = 1; })},
      {"exp2 stood in place of exp", "o", with([](Loops& x) { x.scale = 0.25 * std::log(2.0); })},
      {"the scale of the scores were 1/sqrt(heads dim)", "o", with([](Loops& x) { x.scale = 0.25 / std::sqrt(8.0); })},
      {"scores were negated", "o", with([](Loops& x) { x.scale = -0.25; })},
      {"D, the row sum of dO O, were added and not subtracted", "dq", with([](Loops& x) { x.of_d = -1; })},
      {"D, the row sum of dO O, were divided by the number of ranks", "dq", with([](Loops& x) { x.of_d = 0.25; })},
      {"dO were 1 everywhere", "dq", with([](Loops& x) { x.ones = true; })},
      {"dq held only what the keys of its own rank add", "dq",
       with([](Loops& x) { x.counts = [](int64_t q, int64_t k) { return L::rank(q) == L::rank(k); }; })},
      {"dq lacked what the keys of its own rank add", "dq",
       with([](Loops& x) { x.counts = [](int64_t q, int64_t k) { return L::rank(q) != L::rank(k); }; })},
      {"gradients of keys lacked what the queries of their own rank add", "dk",
       with([](Loops& x) { x.counts = [](int64_t q, int64_t k) { return L::rank(q) != L::rank(k); }; })},
      {"gradients of keys lacked what the queries of rank 1 add", "dk",
       with([](Loops& x) { x.counts = [](int64_t q, int64_t) { return L::rank(q) != 1; }; })},
      {"gradients lacked the terms of step 3 of a ring", "dq",
       with([](Loops& x) { x.counts = [](int64_t q, int64_t k) { return (L::rank(q) + 4 - L::rank(k)) % 4 != 3; }; })},
      {"query head h read key-value head h mod their number", "o", with([](Loops& x) { x.head = [](int64_t h) { return h % 4; }; })},
      {"query heads read the key-value head after theirs", "o", with([](Loops& x) { x.head = [](int64_t h) { return (h / 2 + 1) % 4; }; })},
      {"query heads read the key-value head before theirs", "o", with([](Loops& x) { x.head = [](int64_t h) { return (h / 2 + 3) % 4; }; })},
      {"all query heads read the first key-value head", "o", with([](Loops& x) { x.head = [](int64_t) { return 0; }; })},
  };
  const Judged asked = right("causal/headtail/P4/b1/hq8/hkv4/s32/d16/float64/normal");
  for (const auto& [words, tensor, loops] : table) {
    Judged judged = asked;
    reference::Tensors wrong;
    loops.solve(asked.problem, wrong);
    reference::Tensors& all = judged.outcome.tensors;
    (tensor == "o" ? all.o : tensor == "dq" ? all.dq : all.dk) = tensor == "o" ? wrong.o : tensor == "dq" ? wrong.dq : wrong.dk;
    EXPECT_THAT(judged.lines({tensor}), Contains(AllOf(HasSubstr("as if "), HasSubstr(words)))) << tensor;
  }
  Judged same = asked;
  reference::Tensors none;
  Loops().solve(asked.problem, none);
  same.outcome.tensors.o = none.o;
  EXPECT_THAT(same.lines({"o"}), Not(Contains(HasSubstr("as if")))) << "loops without a mistake";
}

}  // namespace
}  // namespace ringcheck::parity
