// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/plan/degrees.h"

#include <algorithm>
#include <cmath>

namespace ringcheck::cli {
namespace {

struct Fastest {
  std::string kernel;
  LayerSeconds seconds;
};

Fastest fastest(const Work& work, int64_t ranks, const Question& question, const Figures& figures) {
  Fastest best;
  for (const auto& [kernel, own] : figures.kernels) {
    const LayerSeconds seconds = seconds_of(work, ranks, own, question.hosts);
    if (best.kernel.empty() || seconds.both().all < best.seconds.both().all) best = {kernel, seconds};
  }
  return best;
}

// `one`: the seconds of one rank, which every strategy leaves everything.
Choice choose(const std::string& name, const PlannedStrategy& strategy, int64_t ranks,
              const Question& question, const Figures& figures, double one) {
  Choice choice{.strategy = name};
  if (const auto why = strategy.refuses(question.layer, ranks)) {
    choice.refused = *why;
    return choice;
  }
  const Work work = strategy.work(question.layer, ranks);
  const Fastest best = fastest(work, ranks, question, figures);
  choice.kernel = best.kernel;
  choice.measured = std::ranges::any_of(
      figures.measured, [&](const Timed& timed) { return timed.strategy == name && timed.ranks > 1; });
  choice.layer = layer_bytes(question.layer, ranks, work);
  choice.sent = total(work.forward, &Stage::sent) + total(work.backward, &Stage::sent);
  choice.seconds = best.seconds;
  choice.eta = one / (static_cast<double>(ranks) * best.seconds.both().all);
  return choice;
}

Degree degree(int64_t ranks, const Question& question, const Figures& figures, double one) {
  Degree degree{ranks, static_cast<double>(question.layers) * question.layer.kv_bytes(ranks), {}};
  for (const auto& [name, strategy] : planned_strategies())
    degree.choices.push_back(choose(name, strategy, ranks, question, figures, one));
  std::ranges::stable_sort(degree.choices, {}, [](const Choice& choice) {
    return std::pair(!choice.refused.empty(), choice.seconds.both().all);
  });
  return degree;
}

}  // namespace

const Choice* Degree::best(double memory) const {
  const auto found = std::ranges::find_if(choices, [&](const Choice& choice) {
    return choice.refused.empty() && needs(choice) <= memory;
  });
  return found == choices.end() ? nullptr : &*found;
}

std::vector<Degree> degrees_of(const Question& question, const Figures& figures) {
  const Work alone = planned_strategies().begin()->second.work(question.layer, 1);
  const double one = fastest(alone, 1, question, figures).seconds.both().all;
  std::vector<Degree> degrees;
  for (int64_t ranks = 1; ranks <= question.ranks; ++ranks)
    if (question.ranks % ranks == 0) degrees.push_back(degree(ranks, question, figures, one));
  return degrees;
}

double Checked::off() const { return std::abs(predicted / measured - 1); }

std::vector<Checked> checked(const Figures& figures) {
  std::vector<Checked> list;
  for (const Timed& timed : figures.measured) {
    const auto kernel = figures.kernels.find(timed.kernel);
    if (kernel == figures.kernels.end()) continue;
    const Hosts one_host{timed.ranks, figures.link, {}};
    const Work work = planned_strategies().at(timed.strategy).work(timed.layer, timed.ranks);
    list.push_back({timed, seconds_of(work, timed.ranks, kernel->second, one_host).both().all,
                    timed.forward + timed.backward});
  }
  return list;
}

}  // namespace ringcheck::cli
