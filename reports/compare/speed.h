// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reports/compare/change.h"
#include "reports/compare/interval.h"
#include "reports/compare/side.h"

namespace ringcheck::reports {

enum class SpeedVerdict { kSlower, kFaster, kSame, kInconclusive, kNoRatio };
std::string to_text(SpeedVerdict verdict);

// How two sides are asked for their speed.
struct SpeedQuestion {
  double margin = 0.02;  // a slowdown fails where its whole interval is beyond this
  double alpha = 0.05;   // at most this share of comparisons of equals alarms, all series together
  double power = 0.8;    // of `smallest`
  // The samples of both sides were taken in turns, so that each stands for itself. Else what a run
  // of a program has in common, as clocks and placement, hits all its samples: a run counts as one.
  bool interleaved = false;
  // The medians of earlier runs of a series, oldest first.
  std::function<std::vector<double>(const Measurement&)> history = {};
};

// One series. Ratios are slowdowns: above 1 the second is worse, whichever way is better.
struct Speed {
  std::string name, unit;
  std::map<std::string, std::string> parts;
  SpeedVerdict verdict = SpeedVerdict::kInconclusive;
  std::string how;  // it was judged, or why not
  size_t base_values = 0, new_values = 0;
  double base_median = 0, new_median = 0;
  std::optional<Interval> slowdown;
  std::optional<double> smallest;  // slowdown that data like these show with the power asked
  std::optional<double> effect;    // Cliff's delta; with a history, the difference in spreads of a run
};

struct Speeds {
  std::vector<Speed> series;  // slower first
  std::vector<Change> vanished;
  int64_t added = 0;
  int64_t tests = 0;          // among which alpha is divided (Bonferroni)
};

Speeds compare_speed(const Side& base, const Side& new_, const Ignored& ignored,
                     const SpeedQuestion& question);

}  // namespace ringcheck::reports
