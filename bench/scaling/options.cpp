// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/scaling/options.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <system_error>

#include "cli/files.h"
#include "cli/plan/known.h"
#include "cli/plan/pick.h"
#include "cli/read_json.h"
#include "cli/transport.h"
#include "cli/usage_error.h"
#include "cp/worlds/session.h"

namespace ringcheck::bench {
namespace {

// What strategy auto goes by, where a case has it.
std::optional<cli::Figures> figures_for(const Options& options) {
  const std::string &path = options.figures, want = "a result of ringcheck_scaling of two lengths or more on two GPUs or more";
  if (std::ranges::none_of(options.cases, cli::is_auto)) {
    if (options.figures_given)
      throw cli::UsageError("--figures '" + path + "' is what strategy auto goes by, and no --case begins with auto/; leave it out");
    return std::nullopt;
  }
  if (!options.figures_given) return cli::figures_of_gpu(cli::kUsualGpu);
  if (path.empty()) throw cli::UsageError("--figures is empty; want " + want);
  cli::check_files({path}, {{"--json", options.json}});
  try {
    return cli::figures_of(reports::result_from_json(cli::read_json(path)));
  } catch (const cli::UsageError&) {
    throw;
  } catch (const std::exception& error) {
    throw cli::UsageError("--figures '" + path + "': " + error.what() + "; want " + want);
  }
}

parity::Case case_of(const std::string& text, const std::optional<cli::Figures>& figures, bool speaks) {
  if (!cli::is_auto(text)) return parity::parse_case(text);
  const cli::Pick pick = cli::picked(text, *figures);
  if (speaks) std::cerr << "ringcheck_scaling: " << pick.why << "\n";
  return pick.test;
}

// One device cannot compute more key heads than there are, nor fewer than its strategy cuts apart.
void check_groups_alone(const Options& options, const std::vector<parity::Case>& cases) {
  const std::string said = "--groups-alone " + std::to_string(options.groups_alone);
  for (const parity::Case& test : cases) {
    if (options.groups_alone > test.kv_heads)
      throw cli::UsageError(said + " is more than the " + std::to_string(test.kv_heads) + " key heads of " +
                            parity::to_text(test) + "; use at most those");
    if (const auto reason = parity::not_supported(alone(test, options.groups_alone)))
      throw cli::UsageError(said + " of " + parity::to_text(test) + ", on one device: " + *reason);
  }
}

// Whether the ranks of every case can keep a pass as a graph.
void check_launches(const Options& options, const std::vector<parity::Case>& cases, bool launched) {
  const auto asked = [](const std::vector<std::string>& words, const char* word) { return std::ranges::count(words, word) > 0; };
  if (!asked(options.launches, "graph")) return;
  const auto refuse = [](const std::string& what, const std::string& fix) {
    throw cli::UsageError("--launch graph keeps a pass as a graph of the GPU, which " + what + "; " + fix);
  };
  for (const parity::Case& test : cases) {
    if (test.device == "cpu") refuse("a case on the cpu does not have: " + parity::to_text(test), "use device cuda");
    if (test.rope.pairing != Rope::Pairing::kNone)
      refuse("does not make the angles of a rotary embedding: " + parity::to_text(test), "leave rope: out");
    if (test.world > 1 && !launched)
      refuse("holds what one process queues by itself, and " + std::to_string(test.world) + " threads wait for each other",
             "start the ranks as processes (mpirun, torchrun), or use world 1");
  }
}

// What comes twice would be timed twice, under one name.
void check_once(const std::string& option, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    if (std::ranges::count(words, word) > 1) throw cli::UsageError(option + " has " + word + " twice; name it once");
}

void check_once(const Options& options, const std::vector<parity::Case>& cases) {
  std::vector<std::string> texts;
  for (const parity::Case& test : cases) texts.push_back(parity::to_text(test));
  check_once("--case", texts);
  check_once("--transport", options.transports);
  check_once("--launch", options.launches);
}

// Makes the folder of traces, which are of GPUs.
void check_trace(const std::string& folder, const std::vector<parity::Case>& cases) {
  for (const parity::Case& test : cases)
    if (test.device == "cpu")
      throw cli::UsageError("--trace shows what GPUs do, and this case is computed on the cpu: " + parity::to_text(test) + "; leave it out");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder) || ::access(folder.c_str(), W_OK) != 0)
    throw cli::UsageError("--trace '" + folder + "' is no folder that can be written" + (error ? ": " + error.message() : "") + "; use one that can");
}

}  // namespace

std::vector<std::string> transports_of(const Options& options) {
  return options.transports.empty() ? std::vector<std::string>{kUsualGpuTransport} : options.transports;
}

std::vector<parity::Case> cases_of(const Options& options, bool launched, bool speaks) {
  const std::optional<cli::Figures> figures = figures_for(options);
  std::vector<parity::Case> cases;
  for (const std::string& text : options.cases) {
    cases.push_back(case_of(text, figures, speaks));
    cases.back().world_kind = launched ? "mpi" : "thread";
    parity::validate(cases.back());
    if (const auto reason = parity::not_supported(cases.back())) throw parity::BadCase(*reason);
    const bool on_gpus = launched && cases.back().device == "cuda";  // a GPU each, over any transport: what shares one is not timed
    if (const auto lack = on_gpus ? lacks_gpus(cases.back().world) : std::nullopt) throw parity::BadCase(*lack);
  }
  return cases;
}

void check(const Options& options, const std::vector<parity::Case>& cases, bool launched) {
  check_once(options, cases);
  for (const std::string& transport : options.transports) cli::check_transport(transport, cases);
  check_launches(options, cases, launched);
  check_groups_alone(options, cases);
  if (!options.trace.empty()) check_trace(options.trace, cases);
}

}  // namespace ringcheck::bench
