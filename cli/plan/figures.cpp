// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/plan/figures.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>

#include "parity/case/task.h"
#include "reports/median.h"

namespace ringcheck::cli {
namespace {

// Equations of a model: what each constant is multiplied by, and what comes out.
struct Equations {
  std::vector<std::vector<double>> factors;
  std::vector<double> values;

  void add(const std::vector<double>& row, double value) {
    factors.push_back(row);
    values.push_back(value);
  }
};

// Of the least squares of relative errors those that are not negative: the best of all subsets of the
// constants, the others 0.
std::vector<double> fitted(const Equations& equations) {
  const auto rows = static_cast<int64_t>(equations.values.size());
  const auto columns = static_cast<int64_t>(equations.factors.at(0).size());
  at::Tensor matrix = at::empty({rows, columns}, at::kDouble);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      matrix[i][j] = equations.factors[i][j] / equations.values[i];
  const at::Tensor scale = matrix.abs().amax(0).clamp_min(std::numeric_limits<double>::min());
  const at::Tensor scaled = matrix / scale, ones = at::ones({rows, 1}, at::kDouble);
  std::vector<double> best;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t subset = 1; subset < int64_t{1} << columns; ++subset) {
    std::vector<int64_t> chosen;
    for (int64_t j = 0; j < columns; ++j)
      if ((subset >> j & 1) != 0) chosen.push_back(j);
    const at::Tensor index = at::tensor(chosen), part = scaled.index_select(1, index);
    const at::Tensor found = std::get<0>(at::linalg_lstsq(part, ones, std::nullopt, "gelsd"));
    const double off = (part.matmul(found) - ones).square().sum().item<double>();
    if (found.lt(0).any().item<bool>() || !(off < least)) continue;
    least = off;
    best.assign(columns, 0);
    for (size_t k = 0; k < chosen.size(); ++k)
      best[chosen[k]] = (found[static_cast<int64_t>(k)][0] / scale[chosen[k]]).item<double>();
  }
  return best;
}

double inverse(double x) { return x > 0 ? 1 / x : std::numeric_limits<double>::infinity(); }

PassFigures figures_of_pass(const Equations& equations) {
  const std::vector<double> found = fitted(equations);
  if (found.empty() || found[0] <= 0)
    throw std::invalid_argument("its times do not grow with the length");
  return {1 / found[0], found[1], inverse(found[2])};
}

KernelFigures figures_of_kernel(const std::vector<Timed>& measured, const std::string& kernel) {
  Equations forward, backward;
  for (const Timed& timed : measured) {
    if (timed.kernel != kernel) continue;
    const Work work = planned_strategies().at(timed.strategy).work(timed.layer, timed.ranks);
    const auto row = [](const Stages& pass) {
      return std::vector<double>{total(pass, &Stage::flops), calls_in(pass), total(pass, &Stage::beside)};
    };
    forward.add(row(work.forward), timed.forward);
    backward.add(row(work.backward), timed.backward - timed.exposed);
  }
  return {figures_of_pass(forward), figures_of_pass(backward)};
}

// Of what travels while no kernel runs.
Link figures_of_link(const std::vector<Timed>& measured) {
  Equations alone;
  for (const Timed& timed : measured) {
    if (timed.exposed <= 0) continue;
    const Work work = planned_strategies().at(timed.strategy).work(timed.layer, timed.ranks);
    double bytes = 0, times = 0;
    for (const Stages& pass : {work.forward, work.backward})
      for (const Stage& stage : pass)
        if (stage.flops == 0) bytes += stage.times * stage.sent, times += stage.times;
    alone.add({bytes, times}, timed.exposed);
  }
  if (alone.values.empty()) throw std::invalid_argument("it has no communication that was waited for");
  const std::vector<double> found = fitted(alone);
  if (found.empty() || found[0] <= 0)
    throw std::invalid_argument("the waits in it do not grow with the bytes that are sent");
  return {1 / found[0], found[1]};
}

using Parts = std::map<std::string, std::string>;

// The case, but for how long it took; nothing where it cannot be planned.
std::optional<Timed> timed_case(const Parts& parts) {
  const auto part = [&](const char* name) {
    const auto found = parts.find(name);
    return found == parts.end() ? std::string() : found->second;
  };
  const auto number = [&](const char* name) {
    const int64_t value = parity::parse_size(part(name));
    if (value < 1) throw std::invalid_argument("a case in it has " + std::string(name) + " " + part(name));
    return value;
  };
  if (part("mask") != "causal" || part("batch") != "1" || part("subject") != "ours" ||
      (part("dtype") != "bf16" && part("dtype") != "fp16") || !planned_strategies().contains(part("strategy")))
    return std::nullopt;
  const int64_t ranks = number("world");
  if (number("devices") != ranks) return std::nullopt;  // they shared devices
  return Timed{{number("seq"), number("heads"), number("kv_heads"), number("dim"), number("dim_v")},
               part("strategy"), part("kernel"), ranks, 0, 0, 0};
}

constexpr const char* kTimes[] = {"seconds", "forward_seconds", "exposed_communication", "seconds_on_one",
                                  "forward_tflops_on_one"};

void check_times(const Timed& timed) {
  for (const double seconds : {timed.forward, timed.forward + timed.backward - timed.exposed})
    if (!(seconds > 0) || !std::isfinite(seconds) || !(timed.exposed >= 0))
      throw std::invalid_argument("a pass in it took " + std::to_string(seconds) + " s without what it waited for");
}

// No backward pass is left of both where the host was held up in the forward ones.
bool has_both_passes(const Timed& timed) { return timed.backward > timed.exposed; }

std::vector<Timed> measured_in(const reports::Result& scaling) {
  std::map<Parts, std::map<std::string, double>> figures;
  for (const reports::Measurement& one : scaling.measurements)
    if (!one.samples.empty())
      figures[one.parts][one.name] = reports::median(reports::numbers(one.samples));
  std::vector<Timed> list;
  std::set<std::tuple<std::string, int64_t, int64_t, int64_t>> alone;  // what was timed on one device
  for (const auto& [parts, figure] : figures) {
    const std::optional<Timed> timed = timed_case(parts);
    if (!timed || !std::ranges::all_of(kTimes, [&](const char* name) { return figure.contains(name); })) continue;
    Timed one = *timed, all = *timed;
    one.ranks = 1;
    one.forward = one.layer.forward_flops() / (figure.at("forward_tflops_on_one") * 1e12);
    one.backward = figure.at("seconds_on_one") - one.forward;
    all.forward = figure.at("forward_seconds");
    all.backward = figure.at("seconds") - all.forward;
    all.exposed = figure.at("exposed_communication") * figure.at("seconds");
    check_times(one);
    check_times(all);
    if (has_both_passes(one) && alone.insert({one.kernel, one.layer.seq, one.layer.q_heads, one.layer.kv_heads}).second)
      list.push_back(one);
    if (all.ranks > 1 && has_both_passes(all)) list.push_back(all);
  }
  return list;
}

}  // namespace

std::string origin_of(const Figures& figures) {
  constexpr size_t kHash = 7;
  return figures.device.substr(0, figures.device.find(',')) + " at " + figures.commit.substr(0, kHash);
}

Figures figures_of(const reports::Result& scaling) {
  if (scaling.kind != reports::Kind::kScaling)
    throw std::invalid_argument("it is of kind " + reports::to_text(scaling.kind) + ", not scaling");
  Figures figures{{}, {}, scaling.environment.commit, scaling.environment.device, measured_in(scaling)};
  std::map<std::string, std::pair<std::set<int64_t>, std::set<int64_t>>> lengths;  // alone, and not
  for (const Timed& timed : figures.measured) {
    auto& [alone, together] = lengths[timed.kernel];
    (timed.ranks == 1 ? alone : together).insert(timed.layer.seq);
  }
  for (const auto& [kernel, of] : lengths)
    if (of.first.size() > 1 && of.second.size() > 1)
      figures.kernels[kernel] = figures_of_kernel(figures.measured, kernel);
  if (figures.kernels.empty())
    throw std::invalid_argument(
        "no kernel in it was timed at two lengths on several devices (causal, batch 1, bf16 or fp16)");
  figures.link = figures_of_link(figures.measured);
  return figures;
}

}  // namespace ringcheck::cli
