// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/plan/pick.h"

#include <c10/core/ScalarType.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "cli/plan/timing.h"
#include "parity/case/text.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using parity::Case;

struct Candidate {
  Case test;
  std::string strategy;
  double seconds = 0;   // of both passes, predicted
  std::string refused;  // why it cannot
};

std::vector<std::string> kernels_of(const Figures& figures) {
  std::vector<std::string> names;
  for (const auto& [name, unused] : figures.kernels) names.push_back(name);
  return names;
}

void check_known(const Case& test, const Figures& figures) {
  const auto no = [](const std::string& what) {
    throw parity::BadCase("strategy auto: " + what + "; name a strategy in its place");
  };
  if (!std::holds_alternative<Causal>(mask_of(test).kind) || test.balance != "headtail" ||
      test.batch != 1 || !test.is_ours())
    no("its model is of our causal attention of one sequence, head-tail, and this is " + parity::to_text(test));
  if (!figures.kernels.contains(test.kernel))
    no("kernel '" + test.kernel + "' was not measured; known: " + c10::Join(", ", kernels_of(figures)));
}

Candidate candidate(const std::string& strategy, const std::string& rest, const Figures& figures) {
  Candidate one{parity::parse_case(strategy + rest), strategy, 0, ""};
  const Case& test = one.test;
  const Attention layer{test.seq, test.q_heads, test.kv_heads, test.dim, test.dim_v,
                        static_cast<double>(c10::elementSize(test.dtype))};
  const PlannedStrategy& planned = planned_strategies().at(strategy);
  one.refused = planned.refuses(layer, test.world).value_or(parity::not_supported(test).value_or(""));
  if (!one.refused.empty()) return one;
  const Hosts one_host{test.world, figures.link, {}};
  one.seconds = seconds_of(planned.work(layer, test.world), test.world, figures.kernels.at(test.kernel), one_host).both().all;
  return one;
}

std::string said(const Candidate& one) {
  return one.strategy + (one.refused.empty() ? " " + reports::short_figure(1e3 * one.seconds) + " ms" : " cannot (" + one.refused + ")");
}

}  // namespace

Pick picked(const std::string& text, const Figures& figures) {
  const std::string rest = text.substr(text.find('/'));
  const auto& strategies = planned_strategies();
  check_known(parity::parse_case(strategies.begin()->first + rest), figures);
  std::vector<Candidate> all;
  for (const auto& [name, unused] : strategies) all.push_back(candidate(name, rest, figures));
  std::ranges::stable_sort(all, {}, [](const Candidate& one) { return std::pair(!one.refused.empty(), one.seconds); });
  if (!all.front().refused.empty())
    throw parity::BadCase("strategy auto: no strategy takes '" + text + "': " + said(all.front()));
  std::vector<std::string> words;
  for (const Candidate& one : all) words.push_back(said(one));
  return {all.front().test, "auto is " + all.front().strategy + ": both passes predicted to take " + c10::Join(", ", words) +
                                ", by times of " + figures.device + " at " + figures.commit.substr(0, 7)};
}

}  // namespace ringcheck::cli
