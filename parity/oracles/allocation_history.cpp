// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <cmath>
#include <random>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// What a process that has been running for long leaves behind on a rank.
struct History {
  std::vector<at::Tensor> blocks;
  std::vector<std::unique_ptr<Communicator>> groups;
};

// Blocks of many sizes full of NaN, of which a random half is given back, and sub-communicators
// that have been used, of which one stays.
std::shared_ptr<void> long_history(Communicator& comm, const Case& test) {
  constexpr int kBlocks = 128, kGroups = 3;
  std::mt19937_64 random(test.seed * 31 + static_cast<uint64_t>(comm.rank()));
  auto history = std::make_shared<History>();
  const auto options = at::TensorOptions(at::kFloat).device(comm.device());
  for (int i = 0; i < kBlocks; ++i) {
    const double exponent = static_cast<double>(random() % 1900) / 100;
    const auto elements = static_cast<int64_t>(std::exp2(exponent));
    history->blocks.push_back(at::full({elements}, NAN, options));
  }
  std::ranges::shuffle(history->blocks, random);
  history->blocks.resize(kBlocks / 2);
  for (int i = 0; i < kGroups; ++i) {
    history->groups.push_back(comm.split(comm.rank() % (i + 1), -comm.rank()));
    history->groups.back()->agree_max(int64_t{comm.rank()});
    history->groups.back()->finish();
  }
  history->groups.erase(history->groups.begin() + 1, history->groups.end());
  return history;
}

std::vector<Run> runs(const Case& test) {
  Run run{test};
  run.surroundings = long_history;
  return {run};
}

const Oracles::Add registered{
    "allocation-history",
    {"what was allocated and freed before, and communicators made beside, change no bit of F",
     same_bits_in_all_runs, runs, Oracle::Rigour::kExact, "further runs",
     "",
     {.same_bits = true}}};

}  // namespace
}  // namespace ringcheck::parity
