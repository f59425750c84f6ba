// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck faults: would the oracles notice? Plants every known bug and asks them.
#include <ATen/Parallel.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <tuple>

#include "cli/arguments.h"
#include "cli/verify/part_lists.h"
#include "cli/environment.h"
#include "cli/detection/chosen_faults.h"
#include "cli/detection/hunters.h"
#include "cli/detection/kill_matrix.h"
#include "cli/detection/limits.h"
#include "cli/detection/shards.h"
#include "cli/verify/oracles.h"
#include "cli/verify/profiles.h"
#include "cli/process/folder.h"
#include "cli/progress.h"
#include "cli/files.h"
#include "cli/read_json.h"
#include "cli/screen.h"
#include "cli/subcommand.h"
#include "cp/clock.h"
#include "cp/device/cuda_library.h"
#include "cp/words.h"
#include "parity/faults/self_test/self_test.h"
#include "reports/envelope.h"
#include "reports/file.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using parity::Cell;
using parity::Faults;

struct Options {
  std::vector<std::string> faults, dtypes, quarry, shards;
  std::string oracles = "all", json, cells, shard;
  parity::Hunt hunt;
  size_t jobs = std::max(1U, std::thread::hardware_concurrency());
  bool list = false, sensitivity = false;
  int trials = 20;
};

std::vector<at::ScalarType> dtypes_of(const Options& options) {
  std::vector<at::ScalarType> dtypes;
  for (const std::string& text : split_values("--dtype", options.dtypes))
    dtypes.push_back(parity::parse_dtype(text));
  if (dtypes.empty()) dtypes = {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf};
  return dtypes;
}

int list(const Options& options) {
  for (const std::string& name : chosen_faults(options.faults)) {
    const parity::Fault& fault = Faults::at(name);
    const std::string operators = fault.operators.empty() ? "" : "; operator " + c10::Join(" ", fault.operators);
    std::cout << name << "\n  " << reports::wrapped(fault.wrong, 2, 2) << "\n  "
              << reports::wrapped("stands for: " + fault.stands_for + "; planted in the " +
                                      to_text(fault.site) + "; group " + fault.group + operators,
                                  2, 2)
              << "\n";
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
            [&](const Cell& cell) {
              stream << to_json(cell).dump() << std::endl;
              if (!stream) throw UsageError("cannot write '" + options.cells + "': is its disk full?");
            });
  return 0;
}

parity::SelfTest examine(const std::vector<at::ScalarType>& dtypes,
                         const std::vector<std::string>& oracles) {
  at::set_num_threads(1);  // the tensors are small, and on a busy machine the threads of a team wait for each other by spinning
  parity::SelfTest all;
  for (const at::ScalarType dtype : dtypes) {
    const parity::SelfTest one = parity::self_test(dtype, oracles, parity::judge_plainly);
    all.demands += one.demands;
    all.failures.insert(all.failures.end(), one.failures.begin(), one.failures.end());
  }
  return all;
}

std::vector<Cell> hunted(const std::vector<Quarry>& quarry, const Options& options) {
  Progress progress(quarry.size(), "planted bugs");
  const auto done = [&](const Cell& cell) { progress.advance(cell.result != Cell::Result::kSurvived); };
  return options.jobs == 1 ? hunt_here(quarry, options.hunt, done)
                           : hunt_in_processes(quarry, options.hunt, options.jobs, done);
}

// How small an error is still seen.
int run_sensitivity(const Options& options) {
  const auto begin = Clock::now();
  Progress progress(static_cast<size_t>(options.trials) * dtypes_of(options).size(), "trials");
  Limits limits{environment(), options.hunt.kernel, options.trials,
                parity::sensitivity({dtypes_of(options), options.trials, true,
                                     [&] { progress.advance(true); }, options.hunt.kernel})};
  limits.environment.command = "ringcheck faults --sensitivity";
  limits.environment.wall_seconds = seconds_since(begin);
  std::ostream& screen = reports::screen_beside(options.json);
  screen << console_text(limits, paint_on(screen)) << std::flush;
  if (!options.json.empty()) reports::write_json(options.json, to_json(limits));
  return 0;
}

int exit_code_of(const KillMatrix& matrix) {
  if (!matrix.self_test.failures.empty()) return exit_codes::kSelfTest;
  if (!unclean(matrix).empty() || !parity::survivors_of_judging(matrix.cells).empty()) return exit_codes::kWrong;
  return parity::score_of(matrix.cells).counted() == 0 ? exit_codes::kNothingRan : 0;
}

// For a profile: the first of those that were asked for in which the fault can show.
at::ScalarType dtype_for(const parity::Fault& fault, const std::vector<at::ScalarType>& asked) {
  for (const at::ScalarType dtype : fault.dtypes)
    if (std::ranges::find(asked, dtype) != asked.end()) return dtype;
  return asked.front();
}

// Every fault in every dtype; for a profile, whose cases have their own, each fault of the subject
// once. Of a shard, its part of them.
std::vector<Quarry> quarry_of(const Options& options) {
  std::vector<Quarry> quarry;
  for (const std::string& name : chosen_faults(options.faults)) {
    const parity::Fault& fault = Faults::at(name);
    if (options.hunt.profile.empty())
      for (const at::ScalarType dtype : dtypes_of(options)) quarry.push_back({name, dtype});
    else if (fault.subject)
      quarry.push_back({name, dtype_for(fault, dtypes_of(options))});
  }
  return options.shard.empty() ? quarry : part_of(quarry, parse_shard(options.shard));
}

KillMatrix matrix_of(const Options& options) {
  if (options.jobs > 1) { const TemporaryFolder for_processes; }  // or it is refused here
  const auto begin = Clock::now();
  const std::vector<at::ScalarType> dtypes = dtypes_of(options);
  KillMatrix matrix;
  matrix.profile = options.hunt.profile;
  if (!matrix.profile.empty()) matrix.dtypes = split_values("--dtype", options.dtypes);
  matrix.shard = options.shard;
  matrix.environment = environment();
  matrix.environment.command = "ringcheck faults";
  if (options.hunt.device == "cuda") matrix.environment.device = describe_gpus();
  matrix.oracles = options.hunt.oracles;
  matrix.self_test = examine(dtypes, options.hunt.oracles);
  if (matrix.self_test.failures.empty()) matrix.cells = hunted(quarry_of(options), options);
  matrix.environment.wall_seconds = seconds_since(begin);
  return matrix;
}

// The cases of the profile, in the dtypes that were asked for.
std::vector<parity::Case> cases_to_hunt_in(const Options& options) {
  std::vector<parity::Case> cases = cases_of(profile(options.hunt.profile), options.hunt.device);
  const std::vector<at::ScalarType> asked = dtypes_of(options);
  std::erase_if(cases, [&](const parity::Case& test) {
    return std::ranges::find(asked, test.dtype) == asked.end();
  });
  return cases;
}

int report(const KillMatrix& matrix, const Options& options) {
  const int code = exit_code_of(matrix);
  std::ostream& screen = reports::screen_beside(options.json);
  screen << console_text(matrix, code, paint_on(screen)) << std::flush;
  if (!options.json.empty()) reports::write_json(options.json, to_json(matrix));
  return code;
}

int merge(const Options& options) {
  std::vector<KillMatrix> shards;
  for (const std::string& file : options.shards) try {
      shards.push_back(matrix_from_json(read_json(file)));
    } catch (const UsageError&) {
      throw;
    } catch (const std::exception& error) {
      throw UsageError("--merge: '" + file + "' is no result of `ringcheck faults --shard`: " +
                       words_of(error) + "; give what --json wrote");
    }
  return report(merged(shards), options);
}

// Everything that can be wrong is said before any work.
void check(const Options& options) {
  chosen_faults(options.faults);
  dtypes_of(options);
  if (!options.shard.empty()) parse_shard(options.shard);
  check_files(options.shards, {{"--json", options.json}});
}

int run(Options& options) {
  options.hunt.oracles = parse_oracles(options.oracles);
  check(options);
  if (options.list) return list(options);
  if (!options.shards.empty()) return merge(options);
  check_kernel_on(options.hunt.kernel, options.hunt.device);
  if (!options.hunt.profile.empty() && options.hunt.kernel != parity::Hunt().kernel)
    throw UsageError("--kernel " + options.hunt.kernel + ": the cases of a profile have their own "
                     "kernels; leave --kernel out");
  if (!options.hunt.profile.empty())
    options.hunt.among = cases_to_hunt_in(options);
  if (!options.cells.empty()) return run_part(options);
  if (options.sensitivity) return run_sensitivity(options);
  return report(matrix_of(options), options);
}

// Options that say nothing of what is done are refused: nobody would know that they were not heard.
void refuse_useless(const CLI::App& program) {
  const std::tuple<std::string, std::string, std::vector<std::string>> ways[] = {
      {"--list", "no bug is planted", {"--dtype", "--oracles", "--ask-all", "--kernel", "--device", "--profile", "--shard", "--json"}},
      {"--merge", "the shards say it", {"--fault", "--dtype", "--oracles", "--ask-all", "--kernel", "--device", "--profile"}},
      {"--sensitivity", "its errors and oracles are its own, on the CPU", {"--fault", "--oracles", "--ask-all", "--device"}}};
  for (const auto& [way, why, others] : ways)
    for (const std::string& other : others)
      if (program.count(way) > 0 && program.count(other) > 0)
        contradict(other, way, why);
}

const Subcommands::Add add("faults", [](CLI::App& program) {
  auto options = std::make_shared<Options>();
  program.description("plants known bugs and shows which oracle notices which");
  program.add_option("--fault", options->faults, "names, groups or operators; default: all")
      ->type_name("LIST");
  program.add_option("--dtype", options->dtypes, "float64, float32, bf16, fp16; default: all")
      ->type_name("LIST");
  const CLI::Option* oracles =
      program.add_option("--oracles", options->oracles, "who judges: names, or all")
          ->type_name("LIST")
          ->check(not_empty())
          ->capture_default_str();
  program.add_flag("--ask-all", options->hunt.ask_all,
                   "ask oracles with further runs also where a cheaper one has noticed");
  program.add_option("--kernel", options->hunt.kernel, "the kernel under the planted bugs")
      ->check(not_empty())
      ->capture_default_str();
  program.add_option("--device", options->hunt.device, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  program.add_option("--jobs", options->jobs, "processes")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  program.add_option("--json", options->json, "write the matrix; - is stdout")
      ->type_name("FILE")
      ->check(not_empty());
  CLI::Option* sensitivity =
      program.add_flag("--sensitivity", options->sensitivity,
                       "the smallest planted relative error that is seen in 95 % of the trials");
  program.add_option("--trials", options->trials, "of --sensitivity")
      ->check(CLI::Range(1, 1000))
      ->needs(sensitivity)
      ->capture_default_str();
  program.add_option("--profile", options->hunt.profile,
                     "in its cases until one is killed, judged as verify judges them; with "
                     "--dtype in those of these dtypes")
      ->check(not_empty())
      ->excludes("--sensitivity");
  program.add_option("--shard", options->shard,
                     "I/N: the Ith of N runs that share the faults; --merge puts their --json together")
      ->type_name("I/N")
      ->check(not_empty())
      ->excludes("--sensitivity");
  program.add_option("--merge", options->shards, "plant none: put the results of all shards together")
      ->type_name("FILE")
      ->check(not_empty())
      ->excludes("--shard", "--sensitivity");
  program.add_flag("--list", options->list, "print the faults, plant none");
  program.add_option("--cells", options->cells)->group("");
  program.add_option("--quarry", options->quarry)->group("");
  return [options, oracles, &program] {
    refuse_useless(program);
    if (!options->hunt.profile.empty() && oracles->count() == 0) {
      options->oracles.clear();
      options->hunt.drawn = true;
    }
    return run(*options);
  };
});

}  // namespace
}  // namespace ringcheck::cli
