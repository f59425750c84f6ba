// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/plan/pick.h"

#include <c10/core/ScalarType.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <set>
#include <variant>
#include <vector>

#include "cli/plan/timing.h"
#include "parity/case/text.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using parity::BadCase;
using parity::Case;

const std::string kBegin = "auto/";

// What follows the strategy, of a case or of its text.
std::string rest_of(const std::string& text) { return text.substr(text.find('/') + 1); }

struct Candidate {
  Case test;
  std::string strategy;
  double seconds = 0;   // of both passes, predicted
  std::string refused;  // why it cannot
};

// A case of any strategy; what is wrong is said of the text as it was given.
Case parsed(const std::string& text, const std::string& strategy) {
  const std::string begin = strategy + "/";
  try {
    return parity::parse_case(begin + rest_of(text));
  } catch (const BadCase& error) {
    std::string said = error.what();
    if (const size_t at = said.find(begin); at != std::string::npos)
      said.replace(at, begin.size(), kBegin);
    throw BadCase(said);
  }
}

std::vector<std::string> kernels_of(const Figures& figures) {
  std::vector<std::string> names;
  for (const auto& [name, unused] : figures.kernels) names.push_back(name);
  return names;
}

// Throws BadCase where the model is not of such cases.
void check_known(const Case& test, const Figures& figures) {
  const bool is_known = std::holds_alternative<Causal>(mask_of(test).kind) && test.is_ours() &&
                        test.balance == "headtail" && test.batch == 1 &&
                        (test.dtype == at::kBFloat16 || test.dtype == at::kHalf);
  if (!is_known)
    throw BadCase("strategy auto: its model is of our causal attention of one sequence, head-tail, in bf16 "
                  "or fp16, and this is " + kBegin + rest_of(parity::to_text(test)) +
                  "; name a strategy instead of auto");
  if (test.seq < 2 * test.world)
    throw BadCase("strategy auto: s" + std::to_string(test.seq) + " has fewer than two tokens for each of P" +
                  std::to_string(test.world) + "; use s" + std::to_string(2 * test.world) +
                  " or more, or name a strategy instead of auto");
  if (!figures.kernels.contains(test.kernel))
    throw BadCase("strategy auto: kernel '" + test.kernel + "' was not measured; known: " +
                  c10::Join(", ", kernels_of(figures)) +
                  "; name one of them, give --figures of a machine that timed it, or name a strategy "
                  "instead of auto");
}

Candidate candidate(const std::string& strategy, const std::string& text, const Figures& figures) {
  Candidate one{parsed(text, strategy), strategy, 0, ""};
  const Case& test = one.test;
  const Attention layer{test.seq, test.q_heads, test.kv_heads, test.dim, test.dim_v,
                        static_cast<double>(c10::elementSize(test.dtype))};
  const PlannedStrategy& planned = planned_strategies().at(strategy);
  const auto too_few = planned.refuses(layer, test.world);
  one.refused = too_few ? *too_few : parity::not_supported(test).value_or("");
  if (!one.refused.empty()) return one;
  const Hosts one_host{test.world, figures.link, {}};
  const KernelFigures& kernel = figures.kernels.at(test.kernel);
  one.seconds = seconds_of(planned.work(layer, test.world), test.world, kernel, one_host).both().all;
  return one;
}

// "ring:p2p 12.3 ms", or why not.
std::string said(const Candidate& one) {
  if (!one.refused.empty()) return one.strategy + " cannot (" + one.refused + ")";
  return one.strategy + " " + reports::short_figure(1e3 * one.seconds) + " ms";
}

[[noreturn]] void none_can(const std::string& text, const std::vector<Candidate>& all) {
  std::set<std::string> reasons;
  for (const Candidate& one : all) reasons.insert(one.refused);
  throw BadCase("strategy auto: no strategy takes '" + text + "': " +
                c10::Join("; ", std::vector<std::string>(reasons.begin(), reasons.end())));
}

// What the model knows of some of them from blocks alone.
std::string not_timed(const std::vector<Candidate>& all, const Figures& figures) {
  std::vector<std::string> names;
  for (const Candidate& one : all)
    if (std::ranges::none_of(figures.measured, [&](const Timed& timed) {
          return timed.strategy == one.strategy && timed.ranks > 1;
        }))
      names.push_back(one.strategy);
  return names.empty() ? "" : "; not timed there: " + c10::Join(", ", names);
}

}  // namespace

bool is_auto(const std::string& text) { return text.starts_with(kBegin); }

Pick picked(const std::string& text, const Figures& figures) {
  const auto& strategies = planned_strategies();
  check_known(parsed(text, strategies.begin()->first), figures);
  std::vector<Candidate> all;
  for (const auto& [name, unused] : strategies) all.push_back(candidate(name, text, figures));
  std::ranges::stable_sort(all, {}, [](const Candidate& one) {
    return std::pair(!one.refused.empty(), one.seconds);
  });
  if (!all.front().refused.empty()) none_can(text, all);
  std::vector<std::string> words;
  for (const Candidate& one : all) words.push_back(said(one));
  return {all.front().test, "auto is " + all.front().strategy + ": both passes are predicted to take: " +
                                c10::Join(", ", words) + ", by times of " + origin_of(figures) +
                                not_timed(all, figures)};
}

}  // namespace ringcheck::cli
