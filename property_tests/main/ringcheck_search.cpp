// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck_search: looks for a case that fails, and makes it small. docs/search.md
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>

#include "cp/worlds/job.h"
#include "parity/case/regressions.h"
#include "property_tests/property.h"
#include "property_tests/search/climb.h"
#include "property_tests/search/planted.h"
#include "property_tests/search/search.h"
#include "reports/file.h"

namespace ringcheck::search {
namespace {

enum ExitCode { kPassed, kWrong, kUsage, kDead = 5, kInconclusive = 6, kSelfTest = 70 };

struct Options {
  uint64_t seed = std::random_device()();
  int cases = 200, climb = 0, most_world = 8;
  double deadline = 10, shrink = 120;
  std::vector<std::string> given;
  std::string record = "ringcheck_search.json", coverage, plant, device = "cpu";
};

Conduct conduct_of(const Options& options) {
  Conduct conduct;
  if (!options.plant.empty())
    conduct.subject = planted().at(options.plant).subject;
  conduct.deadline = std::chrono::milliseconds(static_cast<int64_t>(options.deadline * 1000));
  conduct.give_up = 4 * conduct.deadline;
  return conduct;
}

std::vector<parity::Case> cases_of(const std::vector<std::string>& texts) {
  std::vector<parity::Case> cases;
  for (const std::string& text : texts)
    cases.push_back(parity::parse_case(text));
  return cases;
}

std::vector<parity::Case> small_regressions(const std::string& device) {
  std::vector<parity::Case> cases;
  for (const parity::Regression& entry : parity::regressions())
    if (!entry.large) {
      cases.push_back(parity::parse_case(entry.text));
      cases.back().device = device;
    }
  for (parity::Case& test : cases)
    if (parity::not_supported(test))
      test.kernel = plainest_kernel(parity::device_type_of(test));
  return cases;
}

// Regressions, then drawn cases, then the climb, or the given cases; the first failure ends it.
class Program {
 public:
  Program(const Options& options, Workers& workers)
      : options_(options),
        workers_(workers),
        record_(options.record, options.seed, options.plant.empty() ? "ours" : options.plant),
        space_(parity::search_ranges(std::min(options.most_world, workers.most_ranks())),
               options.device),
        coverage_(space_) {
    conduct_.seed = options.seed;
    conduct_.cases = options.cases;
    conduct_.budget.seconds = options.shrink;
    conduct_.after_hang.seconds = std::min(conduct_.after_hang.seconds, options.shrink);
    conduct_.say = [](const std::string& line) { std::cout << "FAILED " << line << std::endl; };
  }

  int run() {
    std::cout << "ringcheck_search --seed " << options_.seed << " --cases " << options_.cases
              << " --climb " << options_.climb << ": worlds to "
              << std::min(options_.most_world, workers_.most_ranks()) << " of "
              << workers_.world_kind() << "s, record " << options_.record << std::endl;
    Search search(workers_, record_, conduct_);
    const bool draws = options_.given.empty();
    std::optional<Failure> failure =
        draws ? search.replay(small_regressions(options_.device), "regressions")
              : search.replay(cases_of(options_.given), "given");
    if (draws && !failure && options_.cases > 0)
      failure = search.draw(space_, coverage_);
    if (draws && !failure && options_.climb > 0)
      failure = climbed(search);
    report(search.tally());
    return failure ? report(*failure) : covered(search.tally());
  }

 private:
  std::optional<Failure> climbed(Search& search) {
    const Climbed worst = climb(space_, options_.seed, options_.climb, [&](parity::Case test) {
      test.world_kind = workers_.world_kind();
      record_.running(test);
      return workers_.run(test);
    });
    std::cout << "largest z of " << worst.run << " cases of the climb: " << worst.hardness.max_z
              << " (" << worst.hardness.tensor << "; a pass is at most 8), hard ratio "
              << worst.hardness.hard_ratio << "\n  " << parity::to_text(worst.worst.test)
              << std::endl;
    if (!worst.failed)
      return std::nullopt;
    return search.shrink(worst.worst, "climb");
  }

  bool covers() const { return options_.given.empty() && options_.cases > 0; }

  void report(const Tally& tally) const {
    std::cout << tally.run << " cases: " << tally.passed << " passed, " << tally.inconclusive
              << " inconclusive, " << tally.not_supported << " not supported; " << tally.skipped
              << " skipped, as they need more ranks\n";
    if (covers())
      std::cout << coverage_.table();
    if (!options_.coverage.empty())
      reports::write_file(options_.coverage, coverage_.json().dump(1) + "\n");
  }

  // Whether a search without a failure shows anything.
  int covered(const Tally& tally) const {
    const auto missing = covers() ? coverage_.missing() : std::vector<Cell>{};
    for (const auto& [what, which] : missing)
      std::cerr << "ringcheck_search: no judged case has " << what << ": " << which
                << "; draw more with --cases\n";
    return missing.empty() && tally.passed > 0 ? kPassed : kInconclusive;
  }

  int report(const Failure& failure) const {
    std::cout << "shrunk by " << failure.candidates << " candidates"
              << (failure.complete ? "" : ", cut short,") << " to\n  "
              << parity::to_text(failure.minimal.test) << "\n  " << findings_text(failure.minimal)
              << "\nrun again: " << to_text(failure.recurrence)
              << "\nreproduce: " << reproduce_command(failure.minimal.test)
              << "\nrecord:    " << record_.path()
              << "\nOnce it is understood, it belongs into parity/case/regressions.txt." << std::endl;
    return failure.original.status == parity::Status::kFail ? kWrong : kDead;
  }

  const Options& options_;
  Workers& workers_;
  Record record_;
  parity::CaseSpace space_;
  Coverage coverage_;
  SearchOptions conduct_;
};

int run_threads(const Options& options) {
  const auto workers = thread_workers(conduct_of(options), options.most_world);
  const int code = Program(options, *workers).run();
  if (!workers->left_behind())
    return code;
  std::cout << std::flush;
  std::quick_exit(code);  // threads that never came back must not be waited for
}

std::unique_ptr<Job> joined(const Launcher& launcher) {
  try {
    return Job::join(launcher);
  } catch (const std::exception& error) {
    throw parity::BadCase(error.what());
  }
}

int run_ranks(const Options& options, const Launcher& launcher) {
  const std::unique_ptr<Job> job = joined(launcher);
  try {
    if (job->rank() != 0) {
      serve(*job, conduct_of(options));
      return 0;
    }
    const auto workers = job_workers(*job, conduct_of(options));
    return Program(options, *workers).run();
  } catch (const WorldLost& lost) {
    std::cerr << "ringcheck_search: rank " << job->rank() << ": " << lost.what()
              << "; the world cannot be made anew, so the run ends here; the record is "
              << options.record << std::endl;
    job->abort(kDead);
  }
}

void check(const Options& options) {
  const auto wrong = [](const std::string& text) { throw CLI::ValidationError(text); };
  if (const auto why = why_not_gating())
    wrong(*why);
  if (options.cases < 0 || options.climb < 0 || options.cases + options.climb == 0)
    wrong("--cases and --climb are " + std::to_string(options.cases) + " and " +
          std::to_string(options.climb) + "; they must not be negative, nor both 0");
  if (options.most_world < 1 || options.most_world > 64)
    wrong("--most-world " + std::to_string(options.most_world) + " must be from 1 to 64");
  if (!(options.deadline > 0 && options.deadline <= 3600) || !(options.shrink >= 0))
    wrong("--deadline must be above 0 and at most 3600 seconds, --shrink not below 0");
  if (!options.plant.empty() && planted().count(options.plant) == 0)
    wrong("--plant " + options.plant + " is not one of those that --help lists");
  cases_of(options.given);
  parity::Case test;
  test.device = options.device;
  parity::validate(test);
  test.kernel = "plain";
  if (const auto why = parity::not_supported(test))
    wrong("--device " + options.device + ": " + *why);
}

void declare(CLI::App& program, Options& options) {
  program.add_option("--seed", options.seed, "of what is drawn; default: another one each time");
  program.add_option("--cases", options.cases, "to draw");
  program.add_option("--case", options.given, "only this one, to make it small; may be repeated");
  program.add_option("--climb", options.climb, "cases of the climb towards the largest z");
  program.add_option("--most-world", options.most_world, "ranks; at most those of the launcher");
  program.add_option("--deadline", options.deadline, "seconds that a rank may wait");
  program.add_option("--shrink", options.shrink, "seconds that shrinking may take");
  program.add_option("--record", options.record, "written at the moment of a failure (JSON)");
  program.add_option("--coverage", options.coverage, "write the cells of the drawn cases (JSON)");
  program.add_option("--device", options.device, "cpu, cuda");
  std::string names;
  for (const auto& [name, entry] : planted())
    names += "\n" + name + ": " + entry.says;
  program.add_option("--plant", options.plant, "search ours with this wrong:" + names);
}

int run(int argc, char** argv) {
  Options options;
  CLI::App program("Looks for a case that fails, and makes it small", "ringcheck_search");
  declare(program, options);
  try {
    program.parse(argc, argv);
    check(options);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? kPassed : kUsage;
  }
  const auto launcher = detect_launcher();
  return launcher && launcher->size > 1 ? run_ranks(options, *launcher) : run_threads(options);
}

}  // namespace
}  // namespace ringcheck::search

int main(int argc, char** argv) {
  using namespace ringcheck::search;
  try {
    return run(argc, argv);
  } catch (const ringcheck::parity::BadCase& error) {
    std::cerr << "ringcheck_search: " << error.what() << "\n";
    return kUsage;
  } catch (const ringcheck::BadLaunch& error) {
    std::cerr << "ringcheck_search: " << error.what() << "\n";
    return kUsage;
  } catch (const ringcheck::reports::Unwritable& error) {
    std::cerr << "ringcheck_search: " << error.what() << "\n";
    return kUsage;
  } catch (const std::exception& error) {
    std::cerr << "ringcheck_search: internal error: " << error.what() << "\n";
    return kSelfTest;
  }
}
