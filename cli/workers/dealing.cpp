// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/dealing.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "parity/case/case_space.h"

namespace ringcheck::cli {
namespace {

// Seconds on one core, roughly: what every case takes, what a rank adds, multiplications, and what cuDNN
// takes to plan the shapes of a case.
constexpr double kEachCase = 0.04, kEachRank = 0.005, kWorkInASecond = 3e9, kPlanning = 1;
constexpr double kLittleMemory = 1 << 28;

// Of the scores, how many are computed: tiles outside a window are left out. Oracles that know the
// answer for some data look at all of them.
double computed_share(const parity::Case& test) {
  constexpr int64_t kTile = 64;
  const Mask mask = mask_of(test);
  const auto* window = std::get_if<Window>(&mask.kind);
  const bool any_data = test.data == parity::Task().data;
  if (window == nullptr || !any_data || window->width + kTile >= test.seq) return 1;
  return static_cast<double>(window->width + kTile) / static_cast<double>(test.seq);
}

}  // namespace

double seconds_of(const parity::Case& test) {
  const bool planned = test.kernel.find("cudnn") != std::string::npos;
  return (planned ? kPlanning : 0) + kEachCase + kEachRank * test.world +
         static_cast<double>(parity::work_of(test)) * computed_share(test) / kWorkInASecond;
}

// All its scores in float64, which the judging may hold.
bool is_small(const parity::Case& test) {
  const auto rows = static_cast<double>(test.batch * test.q_heads * test.seq);
  return rows * static_cast<double>(test.seq) * computed_share(test) * sizeof(double) <=
         kLittleMemory;
}

Dealt deal(const std::vector<parity::Case>& cases, const std::vector<size_t>& indexes,
           size_t workers) {
  Dealt dealt;
  std::vector<std::pair<double, size_t>> small;
  for (const size_t index : indexes)
    if (is_small(cases[index]))
      small.emplace_back(-seconds_of(cases[index]), index);
    else
      dealt.large.push_back(index);
  std::ranges::stable_sort(small, {}, &std::pair<double, size_t>::first);
  dealt.hands.resize(std::min(workers, small.size()));
  std::vector<double> lengths(dealt.hands.size(), 0);
  for (const auto& [seconds, index] : small) {
    const auto shortest = std::ranges::min_element(lengths) - lengths.begin();
    lengths[shortest] -= seconds;
    dealt.hands[shortest].push_back(index);
  }
  return dealt;
}

}  // namespace ringcheck::cli
