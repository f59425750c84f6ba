// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/profiles.h"

#include <c10/util/StringUtil.h>

#include <nlohmann/json.hpp>
#include <ranges>
#include <set>

#include "cli/subcommand.h"
#include "cp/attention/attention_kernel.h"
#include "cp/device/moment.h"
#include "parity/case/case_space.h"
#include "parity/subject/contract.h"
#include "parity/case/regressions.h"

namespace ringcheck::cli {
namespace {

using parity::Case;
using parity::CaseSpace;
using Cases = std::vector<Case>;

// Which pairs of values, of two factors each, have occurred together.
class Pairs {
 public:
  explicit Pairs(const CaseSpace& space) {
    for (size_t i = 0; i < space.factors().size(); ++i) {
      const int values = static_cast<int>(space.factors()[i].values.size());
      offsets_.push_back(values_);
      values_ += values;
      if (values > 1)
        varied_.push_back(i);
    }
    seen_.resize(static_cast<size_t>(values_) * static_cast<size_t>(values_));
  }
  int unseen(const CaseSpace::Choice& choice) const {
    int count = 0;
    each(choice, [&](size_t pair) { count += !seen_[pair]; });
    return count;
  }
  void add(const CaseSpace::Choice& choice) {
    each(choice, [&](size_t pair) { seen_[pair] = true; });
  }

 private:
  template <class Visit>
  void each(const CaseSpace::Choice& choice, const Visit& visit) const {
    for (const size_t a : varied_)
      for (const size_t b : varied_)
        if (a < b)
          visit(static_cast<size_t>(offsets_[a] + choice[a]) * static_cast<size_t>(values_) +
                static_cast<size_t>(offsets_[b] + choice[b]));
  }
  std::vector<size_t> varied_;  // the factors with more than one value
  std::vector<int> offsets_;
  int values_ = 0;
  std::vector<bool> seen_;
};

// A covering design: of some random choices always the one with most pairs not seen so far.
Cases covering(const CaseSpace& space, int count, uint64_t seed) {
  constexpr int kCandidates = 40;
  const parity::Draw draw = parity::drawn_from(seed);
  Pairs pairs(space);
  Cases cases;
  for (int i = 0; i < count; ++i) {
    CaseSpace::Choice best;
    int most = -1;
    for (int candidate = 0; candidate < kCandidates; ++candidate) {
      const CaseSpace::Choice choice = space.choose(draw);
      const int unseen = pairs.unseen(choice);
      if (unseen > most) {
        most = unseen;
        best = choice;
      }
    }
    pairs.add(best);
    cases.push_back(space.build(best, draw));
  }
  return cases;
}

void append(Cases& cases, const std::vector<std::string>& texts) {
  for (const std::string& text : texts)
    cases.push_back(parity::parse_case(text));
}

// Moves cases to the device; a kernel that is not there is replaced.
Cases moved(Cases cases, const std::string& device) {
  for (Case& test : cases) {
    test.device = device;
    if (parity::not_supported(test))
      test.kernel = plainest_kernel(parity::device_type_of(test));
  }
  return cases;
}

void append_regressions(Cases& cases, bool large) {
  for (const parity::Regression& entry : parity::regressions())
    if (large || !entry.large)
      append(cases, {entry.text});
}

// The first `count` cases of each world size again, a process a rank.
void append_mpi(Cases& cases, const std::vector<int>& worlds, int count) {
  const Cases threads = cases;
  const bool on_gpus = !cases.empty() && cases.front().device == "cuda";
  for (const int world : worlds) {
    if (on_gpus && world > device_count(at::kCUDA))
      continue;
    int left = count;
    for (Case test : threads) {
      if (test.world != world || left == 0)
        continue;
      --left;
      test.world_kind = "mpi";
      cases.push_back(test);
    }
  }
}

// Shards of a slot more than the tiles of kernels, where there is a rest and more than one tile.
void append_tile_edges(Cases& cases, const std::string& device) {
  Case probe;
  probe.device = device;
  for (const std::string& kernel : kernels_on(parity::device_type_of(probe))) {
    Cases own;
    for (const char* mask : {"causal", "full", "window[131]"})
      for (const char* length : {"s258", "s514"})
        for (const char* dtype : {"float64", "bf16", "float32", "fp16"}) {
          Case test = parity::parse_case("ring:p2p/contiguous/P2/hq4/hkv1/d64/" +
                                         std::string(mask) + "/" + length + "/" + dtype);
          test.device = device;
          test.kernel = kernel;
          if (!parity::not_supported(test))
            own.push_back(test);
        }
    // All dtypes in turn.
    for (size_t i = 0; i < own.size(); i += 3)
      cases.push_back(own[i]);
  }
}

// The shapes at which a kernel's contract says what RMS z and bias must be.
void append_calibrated(Cases& cases, const std::string& device) {
  for (const auto& [kernel, unused] : AttentionKernels::all()) {
    const nlohmann::json contract = parity::contract_json(kernel);
    for (const auto& [text, chart] : contract.at("charts").items()) {
      Case test = parity::parse_case(text);
      test.seed = 1;
      if (test.device == device)
        cases.push_back(test);
    }
  }
}

Cases smoke(const std::string& device) {
  Cases cases = covering(CaseSpace(parity::smoke_ranges(), device), 300, 1);
  append_regressions(cases, false);
  append_tile_edges(cases, device);
  append(cases, {"ring:alltoall/headtail/causal/P4/hq2/hkv1/s1024/d64/bf16/rope:half[10000]",
                 "ring:p2p/striped[16]/window[100]/P8/hq2/hkv1/s1000/d32/fp16",
                 "ring:allgather/contiguous/full/P3/hq1/hkv1/s1021/d32/float32",
                 "ring:alltoall/headtail/flash/full/P2/hq2/hkv2/s1024/d64/bf16"});
  cases = moved(std::move(cases), device);
  append_calibrated(cases, device);
  append_mpi(cases, {2, 3, 4}, 4);
  return cases;
}

Cases conformance(const std::string& device) {
  Cases cases = covering(CaseSpace(parity::smoke_ranges(), device), 3000, 2);
  append_regressions(cases, true);
  append_tile_edges(cases, device);
  cases = moved(std::move(cases), device);
  append_calibrated(cases, device);
  append_mpi(cases, {2, 3, 4, 7}, 25);
  return cases;
}

Cases stress(const std::string& device) {
  Cases cases = covering(CaseSpace(parity::stress_ranges(), device), 150, 3);
  append(cases, {"ring:alltoall/headtail/causal/P8/hq2/hkv1/s4K/d128/bf16/rope:half[500000,llama3]",
                 "ring:p2p/striped[16]/causal/P16/hq1/hkv1/s4K/d64/float32",
                 "ring:allgather[keep]/headtail/window[1024]/P7/hq2/hkv1/s5000/d64/fp16"});
  cases = moved(std::move(cases), device);
  append_mpi(cases, {2, 4, 8}, 5);
  return cases;
}

}  // namespace

const std::map<std::string, Profile>& profiles() {
  static const std::map<std::string, Profile> table{
      {"smoke", {"about 360 small cases, every pair of choices; under a minute", smoke}},
      {"conformance", {"about 3100 small cases", conformance}},
      {"stress", {"about 170 larger cases, lengths to 5000, worlds to 16", stress}}};
  return table;
}

const Profile& profile(const std::string& name) {
  const auto found = profiles().find(name);
  if (found != profiles().end())
    return found->second;
  throw UsageError("unknown profile '" + name +
                   "'; known: " + c10::Join(", ", std::views::keys(profiles())));
}

Cases clean_cases(int64_t count, uint64_t seed, const std::string& device) {
  const CaseSpace space(parity::clean_ranges(), device);
  const parity::Draw draw = parity::drawn_from(seed);
  Cases cases;
  while (static_cast<int64_t>(cases.size()) < count)
    cases.push_back(space.build(space.choose(draw), draw));
  return cases;
}

}  // namespace ringcheck::cli
