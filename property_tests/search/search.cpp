// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/search/search.h"

#include <map>

#include "property_tests/parity/case/generators.h"

namespace ringcheck::search {
namespace {

using Clock = std::chrono::steady_clock;
using parity::Case;
using parity::Status;
using parity::Verdict;

// In what way it fails: a shrunk case must fail in the same way. Which oracle sees it depends on
// the data; whether results are wrong, or counters only, does not.
std::string kind_of(const Verdict& verdict) {
  for (const parity::OracleVerdict& oracle : verdict.oracles)
    if (oracle.status == Status::kFail && !oracle.contract) return "wrong";
  return parity::to_text(verdict.status);
}

// One failing case on its way to a simpler one. Every case runs once only: RapidCheck comes back to
// cases it has seen, and its greedy walk needs one answer.
class Shrinking {
 public:
  using Run = std::function<Verdict(const Case&)>;
  Shrinking(Failure failure, const Budget& budget, Run run)
      : failure_(std::move(failure)), budget_(budget), run_(std::move(run)) {
    known_[parity::to_text(failure_.original.test)] = true;
  }

  // True where the case fails in the way of the original. Beyond the budget every case passes, so
  // that the walk ends.
  bool fails_alike(const Case& test) {
    const auto [entry, is_new] = known_.try_emplace(parity::to_text(test), false);
    if (!is_new || over_budget())
      return entry->second;
    ++failure_.candidates;
    const Verdict verdict = run_(test);
    if (!fails(verdict) || kind_of(verdict) != kind_of(failure_.original))
      return false;
    failure_.minimal = verdict;
    return entry->second = true;
  }

  Failure& failure() { return failure_; }
  bool cut_short() const { return cut_short_; }

 private:
  bool over_budget() {
    const std::chrono::duration<double> spent = Clock::now() - begin_;
    cut_short_ = cut_short_ || failure_.candidates >= budget_.candidates ||
                 spent.count() > budget_.seconds;
    return cut_short_;
  }

  Failure failure_;
  Budget budget_;
  Run run_;
  std::map<std::string, bool> known_;  // by case
  bool cut_short_ = false;
  Clock::time_point begin_ = Clock::now();
};

// Says nothing: the search does.
class Silence final : public rc::detail::TestListener {
 public:
  void onTestCaseFinished(const rc::detail::CaseDescription&) override {}
  void onShrinkTried(const rc::detail::CaseDescription&, bool) override {}
  void onTestFinished(const rc::detail::TestMetadata&, const rc::detail::TestResult&) override {}
};

rc::detail::TestResult check_quietly(const rc::detail::Property& property, uint64_t seed,
                                     int count) {
  rc::detail::TestParams params;
  params.seed = seed;
  params.maxSuccess = count;
  Silence silence;
  return rc::detail::checkProperty(property, {"search", "search"}, params, silence, {});
}

}  // namespace

Verdict Search::run(const Case& test) {
  record_.running(test);
  try {
    return workers_.run(test);
  } catch (const WorldLost& lost) {
    if (record_.has_failure())
      throw;
    Failure failure;
    failure.found_by = "lost world";
    failure.original.test = test;
    failure.original.status = Status::kHang;
    failure.original.reason = lost.what();
    failure.minimal = failure.original;
    record_.failed(failure);
    throw;
  }
}

std::optional<Failure> Search::check(const rc::Gen<Case>& gen, int count,
                                     const std::string& found_by, const Seen& seen) {
  std::optional<Shrinking> shrinking;
  const auto first_failure = [&](const Verdict& verdict) {
    Failure failure{found_by, verdict, verdict, 0, false, {}};
    record_.failed(failure);
    options_.say(parity::to_text(verdict.test) + "\n  " + findings_text(verdict));
    shrinking.emplace(failure,
                      verdict.status == Status::kHang ? options_.after_hang : options_.budget,
                      [this](const Case& test) { return run(test); });
  };
  const auto property = rc::detail::toProperty([&] {
    Case test = *gen;
    test.world_kind = workers_.world_kind();
    if (shrinking) {
      const bool fails = shrinking->fails_alike(test);
      if (fails)
        record_.failed(shrinking->failure());
      RC_ASSERT(!fails);
      return;
    }
    const Verdict verdict = run(test);
    count_in(verdict);
    seen(verdict);
    if (fails(verdict))
      first_failure(verdict);
    RC_ASSERT(!fails(verdict));
  });
  const auto result = check_quietly(property, options_.seed, count);
  if (shrinking) {
    Failure failure = shrinking->failure();
    failure.complete = !shrinking->cut_short();
    classify(failure);
    return failure;
  }
  if (!result.is<rc::detail::SuccessResult>() ||
      result.get<rc::detail::SuccessResult>().numSuccess != count)
    throw std::logic_error("RapidCheck did not run the " + std::to_string(count) +
                           " cases it was asked for");
  return std::nullopt;
}

void Search::count_in(const Verdict& verdict) {
  ++tally_.run;
  tally_.passed += verdict.status == Status::kPass;
  tally_.inconclusive += verdict.status == Status::kInconclusive;
  tally_.not_supported += verdict.status == Status::kNotSupported;
}

void Search::classify(Failure& failure) {
  failure.recurrence = run_again(workers_, failure.minimal.test);
  record_.failed(failure);
}

std::optional<Failure> Search::draw(const parity::CaseSpace& space, Coverage& coverage) {
  return check(gen::of(space), options_.cases, "drawn",
               [&](const Verdict& verdict) { coverage.add(verdict); });
}

std::optional<Failure> Search::replay(const std::vector<Case>& cases,
                                      const std::string& found_by) {
  for (const Case& test : cases) {
    if (test.world > workers_.most_ranks()) {
      ++tally_.skipped;
      continue;
    }
    if (auto failure = check(gen::only(test), 1, found_by, [](const Verdict&) {}))
      return failure;
  }
  return std::nullopt;
}

Failure Search::shrink(const Verdict& original, const std::string& found_by) {
  const auto failure = check(gen::only(original.test), 1, found_by, [](const Verdict&) {});
  if (failure)
    return *failure;
  Failure gone{found_by, original, original, 0, false, {}};
  classify(gone);
  return gone;
}

}  // namespace ringcheck::search
