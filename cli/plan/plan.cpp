// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck plan: how many GPUs a sequence needs, and what context parallelism costs on them.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ranges>

#include "cli/arguments.h"
#include "cli/environment.h"
#include "cli/files.h"
#include "cli/plan/degrees.h"
#include "cli/plan/known.h"
#include "cli/plan/plan_report.h"
#include "cli/results/read_result.h"
#include "cli/screen.h"
#include "cli/subcommand.h"
#include "cli/verify/models.h"
#include "parity/case/task.h"
#include "reports/envelope.h"
#include "reports/file.h"

namespace ringcheck::cli {
namespace {

constexpr double kGibi = 1 << 30, kGiga = 1e9;
constexpr int64_t kMostTokens = int64_t{1} << 40, kMostRanks = 1 << 16;

struct Words {
  std::string model, seq, figures, json, gpu = kUsualGpu;
  int64_t heads = 0, kv_heads = 0, dim = 0, layers = 0;
  int64_t world = 8, a_host = 8;
  double memory = 8, network = 50;
};

std::vector<std::string> names(const auto& table) {
  const auto keys = std::views::keys(table);
  return {keys.begin(), keys.end()};
}

int64_t number(const std::string& text) { return parity::parse_size(text); }

struct Named {
  Attention layer;
  int64_t layers;
  std::string note;
};

// That of the model, or of the options; options go before.
Named attention_of(const Words& words) {
  Named named{{number(words.seq), 0, 0, 0, 0}, 1, ""};
  Attention& layer = named.layer;
  if (!words.model.empty()) {
    const Model& model = model_named(words.model);
    layer = {layer.seq, number(model.heads), number(model.kv_heads), number(model.dim), number(model.dim_v)};
    named.layers = model.layers;
    named.note = model.planned;
  } else if (words.heads == 0 || words.dim == 0) {
    throw UsageError("--heads and --dim are not both given; want them, or --model: one of " +
                     CLI::detail::join(names(models()), ", "));
  }
  if (words.heads > 0) layer.q_heads = layer.kv_heads = words.heads;
  if (words.kv_heads > 0) layer.kv_heads = words.kv_heads;
  if (words.dim > 0) layer.dim = layer.dim_v = words.dim;
  if (words.layers > 0) named.layers = words.layers;
  return named;
}

void check(const Attention& layer, int64_t ranks) {
  const auto text = [](int64_t n) { return std::to_string(n); };
  if (layer.seq < 1 || layer.seq > kMostTokens)
    throw UsageError("--seq " + text(layer.seq) + " is out of bounds; want 1 to 1048576M");
  if (layer.q_heads % layer.kv_heads != 0)
    throw UsageError(text(layer.q_heads) + " query heads do not divide by " + text(layer.kv_heads) +
                     " key-value heads; want --kv-heads that divides --heads");
  if (layer.seq < 2 * ranks)
    throw UsageError("--seq " + text(layer.seq) + " has fewer than two tokens for each of " + text(ranks) + " GPUs; want " +
                     (layer.seq < 2 ? "--seq 2 or more" : "--world " + text(layer.seq / 2) + " at most"));
}

Figures figures_for(const Words& words) {
  if (words.figures.empty()) {
    const std::vector<std::string> known = known_gpus();
    if (std::ranges::find(known, words.gpu) == known.end())
      throw UsageError("--gpu '" + words.gpu + "' was not measured; known: " + CLI::detail::join(known, ", ") +
                       "; for another one give --figures, a result of ringcheck_scaling on it");
    return figures_of_gpu(words.gpu);
  }
  try {
    return figures_of(read_result_with_cases(words.figures));
  } catch (const std::invalid_argument& error) {
    throw UsageError("'" + words.figures + "' has no figures for a plan: " + error.what() +
                     "; want a result of ringcheck_scaling of two lengths or more on two GPUs or more");
  }
}

int run(const Words& words) {
  const auto [layer, layers, note] = attention_of(words);
  check(layer, words.world);
  check_files({words.figures}, {{"--json", words.json}});
  const Figures figures = figures_for(words);
  const Question question{layer, layers, words.world, words.memory * kGibi,
                          {words.a_host, figures.link, {words.network * kGiga, figures.link.latency}}};
  const Plan plan{words.model, note, question, figures, degrees_of(question, figures)};
  std::ostream& screen = reports::screen_beside(words.json);
  screen << plan_text(plan, paint_on(screen)) << std::flush;
  if (!words.json.empty()) {
    reports::Environment here = environment();
    here.command = "ringcheck plan";
    reports::write_json(words.json, reports::envelope(reports::Kind::kPlan, here, plan_json(plan)));
  }
  return plan.fewest() != nullptr ? 0 : exit_codes::kWrong;
}

const Subcommands::Add add("plan", [](CLI::App& program) {
  auto words = std::make_shared<Words>();
  program.description("says how many GPUs a sequence needs, and what that costs");
  const auto count = [&](const char* name, int64_t& value, int64_t most, const char* says) {
    return program.add_option(name, value, says)->check(whole_between(1, most));
  };
  program.add_option("--model", words->model, "whose attention: " + CLI::detail::join(names(models()), ", "))
      ->check(not_empty());
  count("--heads", words->heads, 1 << 16, "query heads; or instead of those of the model");
  count("--kv-heads", words->kv_heads, 1 << 16, "default: as --heads");
  count("--dim", words->dim, 1 << 16, "of a head");
  count("--layers", words->layers, 1 << 16, "default: those of the model, or 1");
  program.add_option("--seq", words->seq, "tokens, as 32K or 1M")->required()->check(not_empty());
  count("--world", words->world, kMostRanks, "GPUs that share a sequence, at most: this number and those that divide it are asked")->capture_default_str();
  count("--gpus-per-host", words->a_host, kMostRanks, "that have links among each other")->capture_default_str();
  program.add_option("--memory", words->memory,
                     "GiB of a GPU for K and V of all layers and one layer at work")
      ->check(between(1e-3, 1e6))
      ->capture_default_str();
  program.add_option("--network", words->network, "GB/s of a GPU to other hosts")
      ->check(between(1e-3, 1e6))
      ->capture_default_str();
  CLI::Option* gpu = program.add_option("--gpu", words->gpu, "by whose measured times: " +
                                                                  CLI::detail::join(known_gpus(), ", "))
                         ->check(not_empty())
                         ->capture_default_str();
  program.add_option("--figures", words->figures, "by the times in a result of ringcheck_scaling instead")
      ->check(not_empty())
      ->excludes(gpu);
  program.add_option("--json", words->json, "also as JSON into this file; - is stdout")
      ->check(not_empty())
      ->type_name("FILE");
  return [words] { return run(*words); };
});

}  // namespace
}  // namespace ringcheck::cli
