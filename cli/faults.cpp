// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck faults: would the oracles notice? Plants every known bug and asks them.
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/axes.h"
#include "cli/detection_page.h"
#include "cli/environment.h"
#include "cli/hunters.h"
#include "cli/oracles.h"
#include "cli/progress.h"
#include "cli/subcommand.h"
#include "parity/self_test.h"
#include "reports/console.h"
#include "reports/file.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using Clock = std::chrono::steady_clock;
using parity::Cell;
using parity::Faults;

struct Options {
  std::vector<std::string> faults, dtypes, quarry;
  std::string oracles = "all", json, markdown, cells;
  parity::Hunt hunt;
  size_t jobs = std::max(1U, std::thread::hardware_concurrency());
  bool list = false;
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Those asked for by name, group or operator; all where none is.
std::vector<std::string> chosen(const Options& options) {
  const std::vector<std::string> words = split_values(options.faults);
  std::vector<std::string> names;
  for (const auto& [name, fault] : Faults::all()) {
    const auto says = [&](const std::string& word) {
      return word == name || word == fault.group ||
             std::ranges::find(fault.operators, word) != fault.operators.end();
    };
    if (words.empty() || std::ranges::any_of(words, says)) names.push_back(name);
  }
  for (const std::string& word : words)
    if (std::ranges::none_of(names, [&](const std::string& name) {
          const parity::Fault& fault = Faults::at(name);
          return word == name || word == fault.group ||
                 std::ranges::find(fault.operators, word) != fault.operators.end();
        }))
      throw UsageError("--fault: unknown fault '" + word + "'; want a name, a group or an operator "
                       "such as M13: see ringcheck faults --list");
  return names;
}

std::vector<at::ScalarType> dtypes_of(const Options& options) {
  std::vector<at::ScalarType> dtypes;
  for (const std::string& text : split_values(options.dtypes))
    dtypes.push_back(parity::parse_dtype(text));
  if (dtypes.empty()) dtypes = {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf};
  return dtypes;
}

int list(const Options& options) {
  for (const std::string& name : chosen(options)) {
    const parity::Fault& fault = Faults::at(name);
    std::cout << name << "\n  " << fault.wrong << "\n  " << c10::Join(" ", fault.operators)
              << (fault.operators.empty() ? "" : ", ") << fault.stands_for << "; in the "
              << to_text(fault.site) << ", group " << fault.group << "\n";
  }
  return 0;
}

// As a part of another run: hunts what it is told to, and writes a line a cell.
int run_part(const Options& options) {
  std::vector<Quarry> quarry;
  for (const std::string& text : options.quarry) {
    const size_t colon = text.rfind(':');
    quarry.push_back({text.substr(0, colon), parity::parse_dtype(text.substr(colon + 1))});
  }
  std::ofstream stream(options.cells, std::ios::app);
  hunt_here(quarry, options.hunt,
            [&](const Cell& cell) { stream << to_json(cell).dump() << std::endl; });
  return 0;
}

parity::SelfTest examine(const std::vector<at::ScalarType>& dtypes,
                         const std::vector<std::string>& oracles) {
  parity::SelfTest all;
  for (const at::ScalarType dtype : dtypes) {
    const parity::SelfTest one = parity::self_test(dtype, oracles, parity::judge_plainly);
    all.demands += one.demands;
    all.failures.insert(all.failures.end(), one.failures.begin(), one.failures.end());
  }
  return all;
}

std::vector<Cell> hunted(const std::vector<Quarry>& quarry, const Options& options) {
  Progress progress(quarry.size());
  const auto done = [&](const Cell& cell) {
    progress.advance(cell.result != Cell::Result::kSurvived);
  };
  return options.jobs == 1 ? hunt_here(quarry, options.hunt, done)
                           : hunt_in_processes(quarry, options.hunt, options.jobs, done);
}

int exit_code_of(const Detection& detection) {
  if (!detection.self_test.failures.empty()) return exit_codes::kSelfTest;
  const auto unclean = [](const Cell& cell) { return !cell.unclean.empty(); };
  if (std::ranges::any_of(detection.cells, unclean)) return 1;
  return parity::score_of(detection.cells).counted() == 0 ? exit_codes::kNothingRan : 0;
}

int run(Options& options) {
  if (options.list) return list(options);
  options.hunt.oracles = parse_oracles(options.oracles);
  if (!options.cells.empty()) return run_part(options);
  const auto begin = Clock::now();
  const std::vector<at::ScalarType> dtypes = dtypes_of(options);
  std::vector<Quarry> quarry;
  for (const std::string& name : chosen(options))
    for (const at::ScalarType dtype : dtypes) quarry.push_back({name, dtype});
  for (const std::string& file : {options.json, options.markdown})
    if (!file.empty()) reports::check_writable(file);

  Detection detection;
  detection.environment = environment();
  detection.oracles = options.hunt.oracles;
  detection.self_test = examine(dtypes, options.hunt.oracles);
  if (detection.self_test.failures.empty()) detection.cells = hunted(quarry, options);
  detection.seconds = seconds_since(begin);
  std::cout << console_text(detection) << std::flush;
  if (!options.json.empty()) reports::write_file(options.json, json_text(detection));
  if (!options.markdown.empty()) reports::write_file(options.markdown, markdown_text(detection));
  return exit_code_of(detection);
}

const Subcommands::Add add("faults", [](CLI::App& program) {
  auto options = std::make_shared<Options>();
  program.description("plants known bugs and shows which oracle notices which");
  program.add_option("--fault", options->faults, "names, groups or operators; default: all")
      ->type_name("LIST");
  program.add_option("--dtype", options->dtypes, "float64, float32, bf16, fp16; default: all")
      ->type_name("LIST");
  program.add_option("--oracles", options->oracles, "who judges: names, or all")
      ->type_name("LIST")
      ->capture_default_str();
  program.add_flag("--ask-all", options->hunt.ask_all,
                   "ask oracles with further runs also where a cheaper one has noticed");
  program.add_option("--kernel", options->hunt.kernel, "the kernel under the planted bugs")
      ->capture_default_str();
  program.add_option("--device", options->hunt.device, "cpu or cuda")->capture_default_str();
  program.add_option("--jobs", options->jobs, "processes")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  program.add_option("--json", options->json, "write the matrix")->type_name("FILE");
  program.add_option("--markdown", options->markdown, "write it for readers")->type_name("FILE");
  program.add_flag("--list", options->list, "print the faults, plant none");
  program.add_option("--cells", options->cells)->group("");
  program.add_option("--quarry", options->quarry)->group("");
  return [options] { return run(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
