// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// How often a comparison of equals alarms, and how often a slowdown is found: on samples that were
// measured, drawn again. A thousand comparisons, all series of each together.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "property_tests/cli/program.h"
#include "property_tests/reports/compare/two_sides.h"
#include "reports/compare/comparison.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

constexpr int kComparisons = 1000;
constexpr size_t kGateRounds = 12;  // of ci/gate.sh, where nobody asks for others

json committed(const std::string& name) {
  return json::parse(testing::read_text(std::string(RINGCHECK_SOURCE_DIR "/reports/results/") + name));
}

// Results whose series have ten samples each, on GPUs.
std::vector<Result> measured_on_gpus() {
  std::vector<Result> results;
  for (const char* name : {"h200_gpu2_scaling_nccl.json", "h200_gpu2_scaling_threads.json",
                           "h200_gpu4_scaling_nccl.json", "h200_gpu4_scaling_threads.json"}) {
    Result result = result_from_json(committed(name));
    result.cases.clear();
    std::erase_if(result.measurements, [](const Measurement& one) { return one.samples.size() < 10; });
    results.push_back(result);
  }
  return results;
}

class Drawn {
 public:
  explicit Drawn(unsigned seed) : random_(seed) {}

  std::vector<double> values(const Measurement& of, size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = of.samples[random_() % of.samples.size()];
    return values;
  }
  // With each series drawn again from its samples.
  Result samples(Result result, size_t count, double slowdown = 1) {
    for (Measurement& one : result.measurements) {
      std::vector<double> drawn = values(one, count);
      for (double& value : drawn) value *= one.better == "smaller" ? slowdown : 1 / slowdown;
      one.samples.assign(drawn.begin(), drawn.end());
    }
    return result;
  }
  // So many runs of one sample each.
  Side runs(const Result& result, size_t count, double slowdown = 1) {
    Side side;
    for (size_t i = 0; i < count; ++i) {
      side.names.push_back("run " + std::to_string(i));
      side.runs.push_back(samples(result, 1, slowdown));
    }
    return side;
  }

 private:
  std::mt19937 random_;
};

bool alarms(const Comparison& comparison) {
  for (const Speed& speed : comparison.speeds.series)
    if (speed.verdict == SpeedVerdict::kSlower) return true;
  return false;
}

SpeedQuestion without_margin(bool interleaved) {
  SpeedQuestion question;
  question.margin = 0;
  question.interleaved = interleaved;
  return question;
}

// How many of a thousand comparisons alarm, and at least one interval of which could be had.
int alarms_in(const std::function<Comparison()>& compared) {
  int count = 0, tests = 0;
  for (int i = 0; i < kComparisons; ++i) {
    const Comparison one = compared();
    count += alarms(one);
    for (const Speed& speed : one.speeds.series) tests += speed.slowdown.has_value();
  }
  EXPECT_GE(tests, kComparisons);
  return count;
}

// Even without a margin at most one in twenty; and the same data alarm more often where every series
// is tested as if it were alone, so that this can fail.
TEST(Alarms, OfInterleavedSamplesThatAreEqual) {
  const std::vector<Result> results = measured_on_gpus();
  Drawn draw(1);
  int turn = 0;
  SpeedQuestion question = without_margin(true);
  const auto compared = [&] {
    const Result& result = results[turn++ % results.size()];
    return compare({{"base"}, {draw.samples(result, 20)}}, {{"new"}, {draw.samples(result, 20)}}, {}, question);
  };
  const int together = alarms_in(compared);
  question.alpha *= static_cast<double>(compared().speeds.tests);
  const int alone = alarms_in(compared);
  std::cout << together << " of 1000 alarm, " << alone << " without a correction\n";
  EXPECT_LE(together, kComparisons / 20);
  EXPECT_GT(alone, kComparisons / 20);
}

// A run for each value.
TEST(Alarms, OfRunsThatAreEqual) {
  const std::vector<Result> results = measured_on_gpus();
  Drawn draw(2);
  int turn = 0;
  const int count = alarms_in([&] {
    const Result& result = results[turn++ % results.size()];
    return compare(draw.runs(result, 12), draw.runs(result, 12), {}, without_margin(false));
  });
  std::cout << count << " of 1000 alarm\n";
  EXPECT_LE(count, kComparisons / 20);
}

// One run a side, and a history of few or many.
TEST(Alarms, OfTwoRunsAndAHistory) {
  const std::vector<Result> results = measured_on_gpus();
  for (const size_t earlier : {kFewestEarlier, 2 * kFewestEarlier}) {
    Drawn draw(3);
    int turn = 0;
    SpeedQuestion question = without_margin(false);
    const int count = alarms_in([&] {
      const Result& result = results[turn++ % results.size()];
      std::map<std::string, Measurement> known;
      for (const Measurement& one : result.measurements) known.emplace(key_of(one, {}), one);
      question.history = [&, known](const Measurement& of) { return draw.values(known.at(key_of(of, {})), earlier); };
      return compare(draw.runs(result, 1), draw.runs(result, 1), {}, question);
    });
    std::cout << count << " of 1000 alarm, by " << earlier << " earlier runs\n";
    EXPECT_LE(count, kComparisons / 20);
  }
}

// What ci/gate.sh takes: in each round a run of either side, the one that begins in turns. `rounds` are
// indices of runs that followed each other.
struct Taken {
  Result base, new_;
};
Taken in_turns(const Result& recorded, const std::vector<size_t>& rounds) {
  Taken sides{recorded, recorded};
  for (size_t i = 0; i < recorded.measurements.size(); ++i) {
    const std::vector<Figure>& samples = recorded.measurements[i].samples;
    std::vector<Figure>&base = sides.base.measurements[i].samples, &now = sides.new_.measurements[i].samples;
    base.clear();
    now.clear();
    for (size_t round = 0; round < rounds.size(); ++round) {
      const bool base_first = round % 2 == 0;
      base.push_back(samples[rounds[round] + (base_first ? 0 : 1)]);
      now.push_back(samples[rounds[round] + (base_first ? 1 : 0)]);
    }
  }
  return sides;
}

// 97 runs of ringcheck_bench, one after the other, on two cores that others used as well: from run to
// run and over the whole time they differ by factors.
Result recorded_runs() {
  return result_from_json(json::parse(testing::read_text(
      RINGCHECK_SOURCE_DIR "/property_tests/reports/compare/recorded_runs.json")));
}

// Rounds drawn from it in the order of time, so that what drifts drifts in the comparison. Were the runs
// of a side taken one after the other, more than one in twenty would alarm.
TEST(Alarms, OfTheRoundsOfAGateThatAreEqual) {
  const Result recorded = recorded_runs();
  const size_t runs = recorded.measurements.at(0).samples.size();
  const SpeedQuestion question = without_margin(true);
  std::mt19937 random(6);
  const int turns = alarms_in([&] {
    std::vector<size_t> rounds(kGateRounds);
    for (size_t& round : rounds) round = random() % (runs - 1);
    std::sort(rounds.begin(), rounds.end());
    const Taken sides = in_turns(recorded, rounds);
    return compare({{"base"}, {sides.base}}, {{"new"}, {sides.new_}}, {}, question);
  });
  const int blocks = alarms_in([&] {
    const size_t begin = random() % (runs - 2 * kGateRounds + 1);
    Taken sides{recorded, recorded};
    for (size_t i = 0; i < recorded.measurements.size(); ++i) {
      const auto from = recorded.measurements[i].samples.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto middle = from + kGateRounds;
      sides.base.measurements[i].samples.assign(from, middle);
      sides.new_.measurements[i].samples.assign(middle, middle + kGateRounds);
    }
    return compare({{"base"}, {sides.base}}, {{"new"}, {sides.new_}}, {}, question);
  });
  std::cout << turns << " of 1000 alarm in turns, " << blocks << " one side after the other\n";
  EXPECT_LE(turns, kComparisons / 20);
  EXPECT_GT(blocks, kComparisons / 20);
}

// Two gates on an H200, 6 rounds each: of equal sides, and of one whose `wgmma` does an eighth more.
TEST(Alarms, OfGatesThatRanOnAGpu) {
  const auto gate = [](const std::string& sides) {
    const auto side_of = [&](const std::string& which) {
      return side({result_from_json(committed("gate/h200_gpu1_" + sides + "_" + which + ".json"))}, which);
    };
    return compare(side_of("base"), side_of("new"), {}, {.interleaved = true});
  };
  EXPECT_EQ(exit_code(gate("same")), 0);
  const Comparison slow = gate("slow");
  EXPECT_EQ(exit_code(slow), 3);
  std::map<std::string, int> slower;
  for (const Speed& one : slow.speeds.series)
    if (one.verdict == SpeedVerdict::kSlower) ++slower[one.parts.at("kernel")];
  EXPECT_EQ(slower, (std::map<std::string, int>{{"wgmma", 7}}));
}

// Where a comparison says that it would see 5 %, it does, as often as it says; with the margin that
// is the default, and as many samples as ci/gate.sh takes, or more.
TEST(Alarms, FindASlowdownOfFivePercent) {
  const std::vector<Result> results = measured_on_gpus();
  SpeedQuestion question;
  question.interleaved = true;
  for (const size_t samples : {kGateRounds, size_t{20}}) {
    Drawn draw(4);
    int able = 0, found = 0;
    for (int i = 0; i < 200; ++i) {
      const Result& result = results[i % results.size()];
      const Comparison one = compare({{"base"}, {draw.samples(result, samples)}},
                                     {{"new"}, {draw.samples(result, samples, 1.05)}}, {}, question);
      for (const Speed& speed : one.speeds.series)
        if (speed.smallest && *speed.smallest <= 1.05) {
          ++able;
          found += speed.verdict == SpeedVerdict::kSlower;
        }
    }
    std::cout << found << " of " << able << " slowdowns of 5 % found in " << samples << " samples\n";
    EXPECT_GT(able, 500);
    EXPECT_GE(found, question.power * able);
  }
}

// And what it says to be the smallest, is found as often as it says, whatever that is.
TEST(Alarms, FindTheSmallestSlowdownThatTheySay) {
  const std::vector<Result> results = measured_on_gpus();
  Drawn draw(5);
  SpeedQuestion question;
  question.interleaved = true;
  int planted = 0, found = 0;
  for (int i = 0; i < 100; ++i) {
    const Result& result = results[i % results.size()];
    const Comparison equal = compare({{"base"}, {draw.samples(result, 20)}},
                                     {{"new"}, {draw.samples(result, 20)}}, {}, question);
    for (const Speed& speed : equal.speeds.series) {
      if (!speed.smallest) continue;
      const Comparison one = compare({{"base"}, {draw.samples(result, 20)}},
                                     {{"new"}, {draw.samples(result, 20, *speed.smallest)}}, {}, question);
      for (const Speed& slow : one.speeds.series)
        if (slow.name == speed.name && slow.parts == speed.parts) {
          ++planted;
          found += slow.verdict == SpeedVerdict::kSlower;
        }
    }
  }
  std::cout << found << " of " << planted << " slowdowns of the size said found\n";
  EXPECT_GT(planted, 500);
  EXPECT_GE(found, question.power * planted - 4 * std::sqrt(0.16 * planted));
}

}  // namespace
}  // namespace ringcheck::reports
