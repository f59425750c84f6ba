// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/plan/plan_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "reports/screen/table.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using nlohmann::json;
using reports::short_figure;
using reports::Table;
using reports::Tone;

constexpr double kGibi = 1 << 30, kGiga = 1e9;

// Whole where it is large.
std::string cell(double value) { return value >= 1e4 ? reports::fixed(value, 0) : short_figure(value); }
std::string gibibytes(double bytes) { return cell(bytes / kGibi); }
std::string percent(double share) { return reports::fixed(100 * share, 0) + " %"; }

std::string many(int64_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string tokens_text(int64_t tokens) {
  constexpr int64_t kKibi = 1 << 10, kMebi = 1 << 20;
  if (tokens % kMebi == 0) return std::to_string(tokens / kMebi) + "M";
  if (tokens % kKibi == 0) return std::to_string(tokens / kKibi) + "K";
  return std::to_string(tokens);
}

std::string dims_text(const Attention& layer) {
  return std::to_string(layer.dim) +
         (layer.dim_v == layer.dim ? "" : " (values " + std::to_string(layer.dim_v) + ")");
}

std::string paragraph(const std::string& text) { return reports::wrapped(text, 0) + "\n"; }

std::string asked(const Plan& plan) {
  const auto& [layer, layers, ranks, memory, hosts] = plan.question;
  std::string text = paragraph("plan: " + (plan.model.empty() ? "" : plan.model + ", ") + many(layers, "layer") + " of " +
                               std::to_string(layer.q_heads) + " query and " + std::to_string(layer.kv_heads) +
                               " key-value heads of " + dims_text(layer) + ", causal, " + tokens_text(layer.seq) +
                               " tokens; " + many(ranks, "GPU") + ", " + std::to_string(hosts.ranks) + " a host");
  if (!plan.note.empty()) text += paragraph(plan.note);
  return text;
}

// At which number of ranks it fits, and what is best with all of them.
std::string answer(const Plan& plan, const reports::Paint& paint) {
  const double memory = plan.question.memory;
  const std::string allowed = gibibytes(memory) + " GiB";
  const Degree* fewest = plan.fewest();
  const Degree& all = plan.degrees.back();
  if (fewest == nullptr) {
    const double least = all.needs(*std::ranges::min_element(all.choices, {}, [&](const Choice& choice) {
      return choice.refused.empty() ? all.needs(choice) : std::numeric_limits<double>::infinity();
    }));
    return paint(Tone::kBad, "does not fit") + "\n" +
           paragraph("With " + many(plan.question.ranks, "GPU") + ", K and V of all layers and one layer at work take " +
                     gibibytes(least) + " GiB of each, and " + allowed + " are allowed: more GPUs (--world), or more of each (--memory).");
  }
  const Choice& least = *fewest->best(memory);
  std::string text = paint(Tone::kGood, "fits from " + many(fewest->ranks, "GPU")) + "\n";
  text += paragraph("There K and V of all layers take " + gibibytes(fewest->kept) + " GiB of each, and one layer at work " +
                    (fewest->ranks == 1 ? "" : "by " + least.strategy + " ") + gibibytes(least.layer) + ", of " +
                    allowed + ".");
  const Choice* best = all.best(memory);
  const Seconds both = best->seconds.both();
  return text + paragraph("With " + many(all.ranks, "GPU") + " the fastest is " + best->strategy + " with kernel " + best->kernel + ": " +
                          short_figure(both.all) + " s for both passes of a layer, " +
                          reports::seconds_text(both.all * static_cast<double>(plan.question.layers)) + " for all; " +
                          percent(both.exposed / both.all) + " of it is waiting for data.");
}

Table::Row row_of(const Degree& degree, const Choice& choice, double memory, const std::string& first) {
  if (!choice.refused.empty()) return {first, "-", "", "", "", "", "", "", "", ""};
  const Seconds forward = choice.seconds.forward, both = choice.seconds.both();
  const bool fits = degree.needs(choice) <= memory;
  return {first,
          choice.kernel,
          gibibytes(degree.kept),
          gibibytes(choice.layer),
          {fits ? "yes" : "no", fits ? Tone::kGood : Tone::kBad},
          cell(choice.sent / kGiga),
          cell(forward.all),
          cell(both.all),
          percent(both.exposed / both.all),
          reports::fixed(choice.eta, 2)};
}

std::string units() {
  return paragraph("K, V: GiB of each GPU, all layers; layer: GiB more while one is at work; sent: GB by each GPU, a layer; "
                   "forward, both passes: s, a layer; waits: for data, of both; eta: one GPU's time over that of all together");
}

// How it goes with the number of GPUs: the fastest strategy that fits, or the fastest.
std::string degrees_table(const Plan& plan, const reports::Paint& paint) {
  Table table({"GPUs", "strategy", "kernel", "K, V", "layer", "fits", "sent", "forward", "both", "waits", "eta"}, 3);
  for (const Degree& degree : plan.degrees) {
    const Choice* best = degree.best(plan.question.memory);
    const Choice& shown = best != nullptr ? *best : degree.choices.front();
    Table::Row row = row_of(degree, shown, plan.question.memory, degree.ranks == 1 ? "-" : shown.strategy);
    row.insert(row.begin(), Table::Entry(std::to_string(degree.ranks)));
    table.add(row);
  }
  return table.text(paint);
}

// All strategies with all GPUs.
std::string strategies_table(const Plan& plan, const reports::Paint& paint) {
  Table table({"with " + many(plan.question.ranks, "GPU"), "kernel", "K, V", "layer", "fits", "sent", "forward", "both", "waits", "eta"}, 2);
  const Degree& all = plan.degrees.back();
  for (const Choice& choice : all.choices)
    table.add(row_of(all, choice, plan.question.memory, choice.strategy), choice.refused);
  return table.text(paint);
}

// Where the figures come from, and how far they carry.
std::string origin(const Plan& plan) {
  const Figures& figures = plan.figures;
  double most = 0;
  const std::vector<Checked> points = checked(figures);
  for (const Checked& point : points) most = std::max(most, point.off());
  std::set<std::string> unseen;
  for (const Degree& degree : plan.degrees)
    for (const Choice& choice : degree.choices)
      if (choice.refused.empty() && !choice.measured) unseen.insert(choice.strategy);
  std::string text = "Predicted, by times of " + origin_of(figures) + "; of those the model is off by at most " + percent(most) + " (" +
                     std::to_string(points.size()) + " times).";
  std::string names;
  for (const std::string& name : unseen) names += (names.empty() ? "" : ", ") + name;
  if (!names.empty()) text += " Not timed there: " + names + ".";
  if (std::ranges::none_of(figures.measured, [&](const Timed& timed) {
        return timed.layer.dim == plan.question.layer.dim && timed.layer.dim_v == plan.question.layer.dim_v;
      }))
    text += " Nor were heads of " + dims_text(plan.question.layer) + ": kernels may be slower on them.";
  const Hosts& hosts = plan.question.hosts;
  if (plan.question.ranks > hosts.ranks)
    text += " Between hosts " + short_figure(hosts.between.rate / kGiga) + " GB/s a GPU are assumed (--network).";
  return paragraph(text);
}

json seconds_json(const Seconds& seconds) { return {{"seconds", seconds.all}, {"exposed", seconds.exposed}}; }

json choice_json(const Choice& choice) {
  if (!choice.refused.empty()) return {{"strategy", choice.strategy}, {"refused", choice.refused}};
  return {{"strategy", choice.strategy},   {"kernel", choice.kernel},
          {"timed", choice.measured},      {"layer_bytes", choice.layer},
          {"sent_bytes", choice.sent},     {"forward", seconds_json(choice.seconds.forward)},
          {"both", seconds_json(choice.seconds.both())}, {"eta", choice.eta}};
}

// A rate of which nothing showed is absent.
json pass_json(const PassFigures& pass) {
  json figures{{"flops_per_second", pass.rate}, {"seconds_per_call", pass.call}};
  if (std::isfinite(pass.beside)) figures["bytes_per_second_beside"] = pass.beside;
  return figures;
}

json link_json(const Link& link) { return {{"bytes_per_second", link.rate}, {"latency", link.latency}}; }

json figures_json(const Figures& figures) {
  json kernels = json::object(), points = json::array();
  for (const auto& [name, kernel] : figures.kernels)
    kernels[name] = {{"forward", pass_json(kernel.forward)}, {"backward", pass_json(kernel.backward)}};
  for (const Checked& point : checked(figures))
    points.push_back({{"strategy", point.timed.strategy}, {"kernel", point.timed.kernel},
                      {"seq", point.timed.layer.seq},     {"ranks", point.timed.ranks},
                      {"predicted", point.predicted},     {"measured", point.measured}});
  return {{"device", figures.device}, {"commit", figures.commit}, {"kernels", kernels}, {"checked", points}};
}

}  // namespace

const Degree* Plan::fewest() const {
  const auto found = std::ranges::find_if(
      degrees, [&](const Degree& degree) { return degree.best(question.memory) != nullptr; });
  return found == degrees.end() ? nullptr : &*found;
}

std::string plan_text(const Plan& plan, const reports::Paint& paint) {
  return asked(plan) + "\n" + answer(plan, paint) + "\n" + degrees_table(plan, paint) + "\n" +
         strategies_table(plan, paint) + "\n" + units() + origin(plan);
}

json plan_json(const Plan& plan) {
  const auto& [layer, layers, ranks, memory, hosts] = plan.question;
  json degrees = json::array();
  for (const Degree& degree : plan.degrees) {
    json choices = json::array();
    for (const Choice& choice : degree.choices) choices.push_back(choice_json(choice));
    degrees.push_back({{"ranks", degree.ranks}, {"kv_bytes", degree.kept}, {"strategies", choices}});
  }
  const Degree* fewest = plan.fewest();
  json question{{"model", plan.model},         {"layers", layers},
                {"heads", layer.q_heads},      {"kv_heads", layer.kv_heads},
                {"dim", layer.dim},            {"dim_v", layer.dim_v},
                {"seq", layer.seq},            {"ranks", ranks},
                {"memory_bytes", memory},      {"ranks_per_host", hosts.ranks},
                {"link", link_json(hosts.inside)}, {"network", link_json(hosts.between)}};
  json own{{"question", question}, {"figures", figures_json(plan.figures)}, {"degrees", degrees}};
  if (fewest != nullptr) own["fewest_ranks"] = fewest->ranks;
  return own;
}

}  // namespace ringcheck::cli
