// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/compare/speed.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "reports/median.h"

namespace ringcheck::reports {
namespace {

// Of one series, what every run of a side measured.
struct Pair {
  std::vector<const Measurement*> base, new_;
};
using Pairs = std::map<std::string, Pair>;

void collect(Pairs& pairs, std::vector<const Measurement*> Pair::*side, const Side& runs,
             const Ignored& ignored) {
  for (size_t i = 0; i < runs.runs.size(); ++i) {
    std::set<std::string> here;
    for (const Measurement& one : runs.runs[i].measurements) {
      const std::string key = key_of(one, ignored);
      if (!here.insert(key).second)
        throw Incomparable("'" + runs.names[i] + "' has " + key + " twice, after what --ignore takes away");
      (pairs[key].*side).push_back(&one);
    }
  }
}

// Numbers of different units have no ratio. An older run may call a way better where a newer one calls none so.
void check_like(const std::string& key, const Pair& pair) {
  const Measurement& one = *(pair.base.empty() ? pair.new_ : pair.base).front();
  for (const auto* side : {&pair.base, &pair.new_})
    for (const Measurement* other : *side)
      if (other->unit != one.unit || (other->better != one.better && !other->better.empty() && !one.better.empty()))
        throw Incomparable(key + " is in '" + one.unit + "', better '" + one.better + "', and in '" + other->unit +
                           "', better '" + other->better + "'; want one unit, and one way that is better");
}

std::vector<double> samples_of(const std::vector<const Measurement*>& runs, bool interleaved) {
  std::vector<double> values;
  for (const Measurement* run : runs) {
    const std::vector<double> samples = numbers(run->samples);
    if (interleaved) values.insert(values.end(), samples.begin(), samples.end());
    else values.push_back(median(samples));
  }
  return values;
}

bool all_of(const std::vector<double>& values, bool (*is)(double)) {
  return !values.empty() && std::all_of(values.begin(), values.end(), is);
}

bool has_ratio(const std::vector<double>& values) {
  return all_of(values, [](double x) { return std::isfinite(x) && x > 0; });
}

// Of what had a ratio: NaN, no samples, or a rate of zero. A time of zero, or a difference below it, is none.
bool was_lost(const std::vector<double>& values, const Measurement& of) {
  return of.better == "larger" || !all_of(values, [](double x) { return std::isfinite(x); });
}

// Logarithms, larger where it is worse.
std::vector<double> slowness(std::vector<double> values, const Measurement& of) {
  for (double& value : values) value = of.better == "larger" ? -std::log(value) : std::log(value);
  return values;
}

Speed described(const Pair& pair, bool interleaved) {
  const Measurement& one = *pair.new_.front();
  const bool judged = !one.better.empty() && !pair.base.front()->better.empty();
  const auto base = samples_of(pair.base, interleaved), now = samples_of(pair.new_, interleaved);
  Speed speed;
  speed.name = one.name;
  speed.parts = one.parts;
  speed.unit = one.unit;
  speed.base_values = base.size();
  speed.new_values = now.size();
  speed.base_median = median(base);
  speed.new_median = median(now);
  if (!judged || !has_ratio(base) || !has_ratio(now)) {
    const bool lost = judged && has_ratio(base) && !has_ratio(now) && was_lost(now, one);
    speed.verdict = lost ? SpeedVerdict::kInconclusive : SpeedVerdict::kNoRatio;
    speed.how = !judged ? "neither way is better" : "a sample is not a positive number";
  }
  return speed;
}

// The interval, and how it was found, as Speed has it; without one, why there is none.
std::optional<Interval> interval_of(Speed& speed, const Pair& pair, double alpha,
                                    const SpeedQuestion& question) {
  const Measurement& one = *pair.new_.front();
  const auto base = slowness(samples_of(pair.base, question.interleaved), one);
  const auto now = slowness(samples_of(pair.new_, question.interleaved), one);
  const std::string values = question.interleaved ? "samples" : "runs";
  if (const auto interval = rank_interval(base, now, alpha)) {
    speed.how = "ranks of " + values;
    speed.effect = cliffs_delta(base, now);
    return interval;
  }
  // Medians of runs vary less than samples do: their spread is no measure of these.
  const bool by_history = question.history && !question.interleaved;
  std::vector<double> earlier = by_history ? question.history(*pair.base.front()) : std::vector<double>();
  std::erase_if(earlier, [](double x) { return !(std::isfinite(x) && x > 0); });
  if (const auto spread = spread_of(slowness(earlier, one))) {
    speed.how = "spread of " + std::to_string(spread->runs) + " earlier runs";
    const Interval interval = spread_interval(base, now, *spread, alpha);
    if (spread->deviation > 0) speed.effect = interval.estimate / spread->deviation;
    else speed.how += ", none";
    return interval;
  }
  speed.how = std::to_string(base.size()) + " against " + std::to_string(now.size()) + " " + values +
              "; want " + std::to_string(fewest_for_ranks(alpha)) + " a side";
  if (!question.interleaved)
    speed.how += ", or " + std::to_string(kFewestEarlier) + " earlier runs of this machine in --history";
  return std::nullopt;
}

void judge(Speed& speed, const Pair& pair, double alpha, const SpeedQuestion& question) {
  const double margin = std::log1p(question.margin);
  const auto interval = interval_of(speed, pair, alpha, question);
  if (!interval) return;
  speed.slowdown = Interval{std::exp(interval->low), std::exp(interval->estimate), std::exp(interval->high)};
  speed.smallest = std::exp(smallest_seen(*interval, margin, alpha, question.power));
  if (interval->low > margin) speed.verdict = SpeedVerdict::kSlower;
  else if (interval->high < -margin) speed.verdict = SpeedVerdict::kFaster;
  else if (!(*speed.smallest <= 2 * (1 + question.margin))) speed.how += "; not even twice as slow would show";
  else speed.verdict = SpeedVerdict::kSame;
}

std::vector<Change> vanished(const Pairs& pairs) {
  std::vector<Change> changes;
  for (const auto& [key, pair] : pairs)
    if (pair.new_.empty())
      changes.push_back({ChangeKind::kVanished, key, "the measurement", {}, {}, {}, {}});
  return changes;
}

}  // namespace

std::string to_text(SpeedVerdict verdict) {
  switch (verdict) {
    case SpeedVerdict::kSlower: return "slower";
    case SpeedVerdict::kFaster: return "faster";
    case SpeedVerdict::kSame: return "same";
    case SpeedVerdict::kInconclusive: return "inconclusive";
    case SpeedVerdict::kNoRatio: return "no ratio";
  }
  throw std::logic_error("a verdict of speed without a name");
}

Speeds compare_speed(const Side& base, const Side& new_, const Ignored& ignored,
                     const SpeedQuestion& question) {
  Pairs pairs;
  collect(pairs, &Pair::base, base, ignored);
  collect(pairs, &Pair::new_, new_, ignored);
  Speeds all;
  all.vanished = vanished(pairs);
  std::vector<const Pair*> with_ratio;
  for (const auto& [key, pair] : pairs) {
    check_like(key, pair);
    all.added += pair.base.empty();
    if (pair.base.empty() || pair.new_.empty()) continue;
    all.series.push_back(described(pair, question.interleaved));
    with_ratio.push_back(&pair);
    all.tests += all.series.back().how.empty();
  }
  for (size_t i = 0; i < all.series.size(); ++i)
    if (all.series[i].how.empty())
      judge(all.series[i], *with_ratio[i], question.alpha / static_cast<double>(all.tests), question);
  std::stable_sort(all.series.begin(), all.series.end(),
                   [](const Speed& a, const Speed& b) { return a.verdict < b.verdict; });
  return all;
}

}  // namespace ringcheck::reports
