// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "reports/compare/comparison.h"
#include "reports/result.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

json sides(const Side& side) {
  json runs = json::array();
  for (size_t i = 0; i < side.runs.size(); ++i)
    runs.push_back({{"name", side.names[i]},
                    {"commit", side.runs[i].environment.commit},
                    {"started", side.runs[i].environment.started}});
  return runs;
}

json change_json(const Change& change) {
  return {{"change", to_text(change.kind)}, {"where", change.where},         {"what", change.what},
          {"base", change.base},            {"new", change.new_},            {"reproduce", change.reproduce},
          {"waived", change.waived}};
}

json figure_json(double value) {
  json j;
  to_json(j, Figure(value));
  return j;
}

json speed_json(const Speed& speed) {
  json j{{"name", speed.name},
         {"parts", speed.parts},
         {"unit", speed.unit},
         {"verdict", to_text(speed.verdict)},
         {"how", speed.how},
         {"base", {{"values", speed.base_values}, {"median", figure_json(speed.base_median)}}},
         {"new", {{"values", speed.new_values}, {"median", figure_json(speed.new_median)}}}};
  if (speed.slowdown)
    j["slowdown"] = {{"low", figure_json(speed.slowdown->low)},
                     {"estimate", figure_json(speed.slowdown->estimate)},
                     {"high", figure_json(speed.slowdown->high)}};
  if (speed.smallest) j["smallest"] = figure_json(*speed.smallest);
  if (speed.effect) j["effect"] = figure_json(*speed.effect);
  return j;
}

}  // namespace

json to_json(const Comparison& comparison) {
  json changes = json::array(), speeds = json::array();
  for (const Change& change : comparison.changes()) changes.push_back(change_json(change));
  for (const Speed& speed : comparison.speeds.series) speeds.push_back(speed_json(speed));
  const SpeedQuestion& question = comparison.question;
  return {{"exit_code", exit_code(comparison)},
          {"headline", headline(comparison)},
          {"base", sides(comparison.base)},
          {"new", sides(comparison.new_)},
          {"cases", comparison.correctness.cases},
          {"new_cases", comparison.correctness.added},
          {"judged_cases", comparison.correctness.judged},
          {"changes", changes},
          {"rule", {{"margin", question.margin},
                    {"alpha", question.alpha},
                    {"power", question.power},
                    {"interleaved", question.interleaved},
                    {"tests", comparison.speeds.tests}}},
          {"new_series", comparison.speeds.added},
          {"speed", speeds}};
}

}  // namespace ringcheck::reports
