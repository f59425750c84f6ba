// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/sharing/dealing.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <variant>

#include "parity/case/case_space.h"

namespace ringcheck::cli {
namespace {

// Seconds on one core, roughly: what every case takes, what a rank adds, multiplications, and what a library takes to plan
// the first shape of a case and each one, in both passes.
constexpr double kEachCase = 0.04, kEachRank = 0.005, kWorkInASecond = 3e9, kPlanning = 0.5, kEachShape = 0.1;
constexpr double kMebi = 1 << 20;
constexpr double kSmall = 256 * kMebi, kMedium = 4096 * kMebi;  // bytes of scores, or of q
constexpr double kMemoryOfWorker = 4096 * kMebi;  // of a GPU, while it judges what is small

constexpr double kShortestDeadline = 30, kTimesPredicted = 20;
constexpr double kShortestOfOthers = 120;  // whose first call may compile
constexpr double kFlopsPerSecond = 3e8;  // of reference and bounds, on a slow core

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

// Of all its scores in float64, which the judging may hold.
double bytes_of_scores(const parity::Case& test) {
  const auto rows = static_cast<double>(test.batch * test.q_heads * test.seq);
  return rows * static_cast<double>(test.seq) * computed_share(test) * sizeof(double);
}

// GPUs have room for a few such cases: they hold a part of the scores, and of q, with its bounds and deviations, some dozens
// of copies in float64.
bool is_medium(const parity::Case& test) {
  const auto elements = static_cast<double>(test.batch * test.q_heads * test.seq * std::max(test.dim, test.dim_v));
  return device_type_of(test) != at::kCPU && bytes_of_scores(test) <= kMedium &&
         elements * sizeof(double) <= kSmall;
}

}  // namespace

double seconds_of(const parity::Case& test) {
  const auto shapes = static_cast<double>(parity::shapes_to_plan(test));
  return (shapes > 0 ? kPlanning : 0) + kEachShape * shapes + kEachCase + kEachRank * test.world +
         static_cast<double>(parity::work_of(test)) * computed_share(test) / kWorkInASecond;
}

bool is_small(const parity::Case& test) { return bytes_of_scores(test) <= kSmall; }

Dealt deal(const std::vector<parity::Case>& cases, const std::vector<size_t>& indexes) {
  Dealt dealt;
  for (const size_t index : indexes) {
    const parity::Case& test = cases[index];
    (is_small(test) ? dealt.small : is_medium(test) ? dealt.medium : dealt.large).push_back(index);
  }
  std::map<size_t, double> seconds;
  for (std::vector<size_t>* shared : {&dealt.medium, &dealt.small}) {
    for (const size_t index : *shared) seconds[index] = seconds_of(cases[index]);
    std::ranges::stable_sort(*shared, std::greater(), [&](size_t index) { return seconds.at(index); });
  }
  return dealt;
}

size_t workers_of_medium(int jobs) { return static_cast<size_t>(std::clamp(jobs / 3, 1, 4)); }

// Ranks wait for each other: one worker more than cores fills what they leave idle; on a GPU they wait for other
// processes, too.
int default_jobs(const std::vector<parity::Case>& cases, const VisibleGpus& gpus, size_t cores) {
  constexpr size_t kMost = 8, kMostOnGpus = 12, kCasesToStart = 12;
  const bool on_gpus = parity::any_on_cuda(cases);
  size_t jobs = std::min(cores + 1, on_gpus ? kMostOnGpus : kMost);
  if (on_gpus) {
    if (gpus.by_one_only) return 1;
    if (gpus.memory) jobs = std::clamp(static_cast<size_t>(*gpus.memory / kMemoryOfWorker), size_t{1}, jobs);
    const auto foreign = std::ranges::count_if(cases, [](const parity::Case& test) { return !test.is_ours(); });
    if (static_cast<size_t>(foreign) == cases.size())
      jobs = std::min(jobs, (cases.size() + kCasesToStart - 1) / kCasesToStart);
  }
  return static_cast<int>(jobs);
}

size_t cores_here() { return std::max(1U, std::thread::hardware_concurrency()); }

double deadline_of(const parity::Case& test) {
  const double pairs = static_cast<double>(test.batch) * static_cast<double>(test.q_heads) *
                       static_cast<double>(test.seq) * static_cast<double>(test.seq);
  const double predicted =
      pairs * static_cast<double>(8 * test.dim + 6 * test.dim_v) / kFlopsPerSecond;
  const double shortest = test.is_ours() ? kShortestDeadline : kShortestOfOthers;
  return std::max(shortest, kTimesPredicted * predicted);
}

}  // namespace ringcheck::cli
