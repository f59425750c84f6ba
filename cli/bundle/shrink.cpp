// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/bundle/shrink.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <set>

#include "cli/bundle/bundle.h"
#include "cli/progress.h"
#include "cli/screen.h"
#include "parity/case/simpler.h"

namespace ringcheck::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using parity::Case;
using reports::CaseResult;
using reports::Status;

constexpr int kCases = 3;
constexpr double kLongest = 10;  // seconds that a case may take
constexpr double kSeconds = 30;
constexpr int kCandidates = 200;
constexpr double kDeadline = 5;  // of silence: a simpler case that hangs fails otherwise
constexpr int kMostAtATime = 8;  // for each start of workers

bool worth_it(const CaseResult& test) {
  return test.verdict == Status::kFail && test.seconds <= kLongest;
}

// By all that are content with one run, and those that saw it: others are drawn by the very case.
std::vector<std::string> oracles_about(const CaseResult& failed, const parity::Judging& judging) {
  std::vector<std::string> names = judging.oracles;
  for (const reports::OracleResult& oracle : failed.oracles)
    if (oracle.verdict == Status::kFail && std::ranges::find(names, oracle.name) == names.end())
      names.push_back(oracle.name);
  return names;
}

// One failed case on its way to a simpler one that fails alike: wrong, or only in a contract.
class Shrinking {
 public:
  Shrinking(const CaseResult& failed, SupervisorOptions options, std::string bundles)
      : failed_(failed), options_(std::move(options)), bundles_(std::move(bundles)) {
    options_.finished = {};
    options_.deadline_seconds = kDeadline;
    options_.judging.oracles = oracles_about(failed, options_.judging);
    options_.judging.drawn = false;
    options_.bundles = bundles_;
    at_a_time_ = std::clamp(static_cast<int>(kLongest / std::max(failed.seconds.value, 0.1)), 1,
                            kMostAtATime);
  }

  // The smallest found; the case itself where there is none.
  Case operator()() {
    Case best = parity::parse_case(failed_.name);
    seen_.insert(failed_.name);
    while (const auto smaller = step(best)) best = *smaller;
    return best;
  }

  nlohmann::json about() const {
    return {{"from", failed_.name}, {"tried", tried_}, {"complete", !cut_short_}};
  }

 private:
  // The boldest simpler case that fails alike.
  std::optional<Case> step(const Case& best) {
    std::vector<Case> left = parity::simpler(best);
    std::erase_if(left, [&](const Case& test) { return seen_.contains(to_text(test)); });
    for (auto next = left.begin(); next != left.end();) {
      const auto end = next + std::min<ptrdiff_t>(at_a_time_, left.end() - next);
      if (is_over()) return std::nullopt;
      if (const auto found = try_all({next, end})) return found;
      next = end;
    }
    return std::nullopt;
  }

  std::optional<Case> try_all(const std::vector<Case>& candidates) {
    fs::remove_all(bundles_);
    fs::create_directory(bundles_);
    tried_ += static_cast<int>(candidates.size());
    for (const Case& test : candidates) seen_.insert(to_text(test));
    const std::vector<CaseResult> results = supervise(candidates, options_);
    for (size_t i = 0; i < results.size(); ++i) {
      cut_short_ = cut_short_ || results[i].verdict == Status::kSkipped;
      if (results[i].verdict != Status::kFail ||
          only_contract(results[i]) != only_contract(failed_) || !keep(results[i].name))
        continue;
      return candidates[i];
    }
    return std::nullopt;
  }

  // The evidence of the smallest so far lies beside the others.
  bool keep(const std::string& name) {
    const std::string found = bundles_ + "/" + bundle_name(name);
    if (!fs::exists(found)) return false;
    fs::remove_all(bundles_ + ".kept");
    fs::rename(found, bundles_ + ".kept");
    return true;
  }

  bool is_over() {
    const std::chrono::duration<double> spent = Clock::now() - begin_;
    cut_short_ = cut_short_ || spent.count() > kSeconds || tried_ >= kCandidates;
    return cut_short_;
  }

  const CaseResult& failed_;
  SupervisorOptions options_;
  std::string bundles_;
  std::set<std::string> seen_;
  int at_a_time_ = 1, tried_ = 0;
  bool cut_short_ = false;
  Clock::time_point begin_ = Clock::now();
};

// In the place of the bundle of the case, where there is a smaller one.
void shrink(const std::string& folder, const SupervisorOptions& options, const CaseResult& failed) {
  const std::string work = folder + "/.smaller", kept = work + ".kept";
  Shrinking shrinking(failed, options, work);
  const Case smallest = shrinking();
  const std::string place = folder + "/" + bundle_name(failed.name);
  if (to_text(smallest) != failed.name) {
    parity::add_to_manifest(kept, kBundle, "shrunk", shrinking.about());
    fs::remove_all(place);
    fs::rename(kept, place);
  }
  fs::remove_all(work);
}

}  // namespace

void shrink_bundles(const std::string& folder, const SupervisorOptions& options,
                    const std::vector<CaseResult>& results) {
  const auto worthy = std::min<ptrdiff_t>(kCases, std::ranges::count_if(results, worth_it));
  Progress progress(static_cast<size_t>(worthy), "failed cases made smaller");
  ptrdiff_t done = 0;
  for (const CaseResult& failed : results) {
    if (done == worthy) return;
    if (!worth_it(failed)) continue;
    ++done;
    try {
      shrink(folder, options, failed);
    } catch (const std::exception& error) {  // what is kept already is not lost
      std::cerr << complaint("a failed case was not made smaller: " + std::string(error.what()));
    }
    progress.advance(true);
  }
}

}  // namespace ringcheck::cli
