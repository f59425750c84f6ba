// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck judge: are the files that another program wrote right?
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "cli/arguments.h"
#include "cli/files.h"
#include "cli/files/dump.h"
#include "cli/process/folder.h"
#include "cli/progress.h"
#include "cli/screen.h"
#include "cli/subcommand.h"
#include "cli/verify/fitting.h"
#include "cli/verify/part_lists.h"
#include "cli/verify/sample.h"
#include "cli/verify/verify_report.h"
#include "cli/workers/sharing/dealing.h"
#include "parity/case/text/nearest.h"
#include "parity/subject/files/cases_folder.h"
#include "parity/subject/foreign/said.h"
#include "reports/file.h"
#include "reports/screen/console.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

constexpr double kPatience = 300;      // seconds of one core: what takes longer is sampled
constexpr int64_t kDefaultSample = 256;

struct Options {
  std::vector<std::string> paths;  // a folder of export, or the files of a dump
  std::vector<std::string> cases, shows;  // as typed
  std::string mask, balance;              // of a dump
  std::optional<std::string> contract;    // the kernel whose rounding errors are allowed; none: the loosest
  std::string sample;
  Telling telling;
};

std::set<std::string> shows_of(const Options& options) {
  const std::vector<std::string> known{"o", "lse", "dq", "dk", "dv"};
  const std::vector<std::string> names = split_values("--shows", options.shows);
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end())
      throw UsageError("--shows: " + parity::unknown_name("tensor", name, known));
  if (!names.empty() && std::ranges::find(names, "o") == names.end())
    throw UsageError("--shows " + c10::Join(",", names) + " has no o, without which nothing is judged; add o");
  return {names.begin(), names.end()};
}

// Throws BadCase where there is no such contract, or not for the dtype of the case.
void check_contract(const Options& options, const parity::Case& test) {
  if (options.contract) parity::promise_of(test, {.contract = options.contract});
}

// As the manifest spells it, whatever the order of its parts as typed.
std::string spelled(const std::string& text, const std::vector<parity::Question>& all) {
  if (std::ranges::find(all, text, &parity::Question::text) != all.end()) return text;
  return parity::question_text(parity::parse_case(text));
}

// All of the folder is read once, so that nothing runs where a file is not whole.
std::vector<parity::Question> answered(const Options& options) {
  const std::string& folder = options.paths.front();
  const std::vector<parity::Question> all = parity::read_cases(folder, {shows_of(options), options.contract});
  parity::check_files(folder, parity::kCases, parity::read_manifest(folder, parity::kCases));
  std::set<std::string> asked;
  for (const std::string& text : options.cases) {
    const std::string own = spelled(text, all);
    if (std::ranges::find(all, own, &parity::Question::text) == all.end())
      throw UsageError("--case '" + text + "' is none of '" + folder + "'; want one of its manifest.json, for example '" +
                       (all.empty() ? "" : all.front().text) + "'");
    asked.insert(own);
  }
  std::vector<parity::Question> list;
  for (size_t number = 0; number < all.size(); ++number) {
    const auto& [text, test] = all[number];
    if (!asked.empty() && !asked.contains(text)) continue;
    check_contract(options, test);
    for (int rank = 0; rank < test.world; ++rank)
      parity::read_answer(folder, number, test, rank);
    list.push_back(all[number]);
  }
  if (list.empty()) throw NothingRan("'" + folder + "' has no case");
  return list;
}

// What `verify` says, of answers that are there.
class Judgement {
 public:
  Judgement(const Options& options, const std::vector<parity::Case>& cases, const std::string& what)
      : telling_(options.telling),
        selection_{cases, what},
        report_(telling_, selection_, "no launcher", "those of another program, in files") {}

  // `reproduce` gives the command for the case of a number; `name` what is to be told of a text.
  int operator()(const std::function<std::string(size_t)>& reproduce,
                 const std::function<std::string(std::string)>& name) {
    report_.begin();
    std::vector<reports::CaseResult> results = judged();
    for (size_t i = 0; i < results.size(); ++i) {
      results[i].reproduce = reproduce(i);
      results[i].name = name(results[i].name);
      for (auto& [part, value] : results[i].parts) value = name(value);
      results[i].group = name(results[i].group);
    }
    return report_.end(std::move(results));
  }

 private:
  std::vector<reports::CaseResult> judged() {
    SupervisorOptions supervisor;
    supervisor.judging.sample = telling_.sample;
    const VisibleGpus gpus = gpus_for(selection_.cases);
    supervisor.jobs = default_jobs(selection_.cases, gpus, cores_here());
    Progress progress(selection_.cases.size(), "cases");
    supervisor.finished = [&](const reports::CaseResult& test) {
      report_.line(test);
      progress.advance(!reports::is_bad(test.verdict));
    };
    return supervise_what_fits(selection_.cases, gpus, supervisor);
  }

  Telling telling_;
  Selection selection_;
  VerifyReport report_;
};

int judge_folder(const Options& options) {
  if (options.paths.size() > 1)
    throw UsageError("'" + options.paths[0] + "' and '" + options.paths[1] +
                     "': want one folder of ringcheck export, or the files of a dump");
  if (!options.mask.empty() || !options.balance.empty())
    throw UsageError("--mask and --balance are of the files of a dump; '" + options.paths.front() +
                     "' is a folder, whose manifest says them: leave them out");
  const std::vector<parity::Question> questions = answered(options);
  std::vector<parity::Case> cases;
  for (const parity::Question& question : questions) cases.push_back(question.test);
  const std::string folder = "'" + options.paths.front() + "'";
  return Judgement(options, cases, "the answers in " + folder)(
      [&](size_t i) {
        std::string command = "ringcheck judge " + folder + " --case '" + questions[i].text + "'";
        for (const std::string& list : options.shows) command += " --shows " + list;
        if (options.contract) command += " --contract " + *options.contract;
        return command;
      },
      [](std::string text) { return text; });
}

// A sample where all would take long; which is said first.
void choose_sample(const parity::Case& test, bool has_lse, Options& options) {
  const double seconds = seconds_of(test);
  if (options.sample.empty() && seconds > kPatience) options.telling.sample = kDefaultSample;
  if (options.telling.sample == 0 || options.telling.sample >= test.seq) return;
  std::cerr << complaint("to judge every element would take about " + reports::seconds_text(seconds) +
                         " of one core: a sample of " + std::to_string(options.telling.sample) +
                         " queries and keys of each head is judged; --sample " + std::to_string(test.seq) +
                         " judges all" +
                         (has_lse ? "" : "; without lse it says nothing of dk and dv, which need that of all queries"));
}

int judge_dump(Options options) {
  if (!options.cases.empty() || !options.shows.empty())
    throw UsageError("--case and --shows are of a folder of ringcheck export, not of the files of a dump: "
                     "leave them out");
  if (options.mask.empty())
    throw UsageError("'" + options.paths.front() + "' is a file of a dump, which does not say its mask; say "
                     "it, for example --mask causal");
  const TemporaryFolder folder;
  const bool has_lse = write_dump({options.paths, options.mask, options.balance}, folder.path());
  const std::set<std::string> shows =
      has_lse ? std::set<std::string>() : std::set<std::string>{"o", "dq", "dk", "dv"};
  const parity::Case test = parity::read_cases(folder.path(), {shows, options.contract}).front().test;
  check_contract(options, test);
  choose_sample(test, has_lse, options);
  std::string command = "ringcheck judge --mask '" + options.mask + "'";
  if (!options.balance.empty()) command += " --balance '" + options.balance + "'";
  if (options.contract) command += " --contract " + *options.contract;
  for (const std::string& path : options.paths) command += " '" + path + "'";
  const int code = Judgement(options, {test}, "a dump of " + std::to_string(options.paths.size()) + " files")(
      [&](size_t) { return command; },
      [&](std::string text) {  // where it lies for the moment is nobody's business
        for (size_t at = 0; (at = text.find(folder.path())) != std::string::npos;)
          text.replace(at, folder.path().size(), "dump");
        return text;
      });
  reports::screen_beside({options.telling.json, options.telling.junit, options.telling.markdown})
      << "\nTaken as given: q, k, v and do, and with them what made them, as a rotary\nembedding.\n";
  return code;
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

int run(Options options) {
  Telling& telling = options.telling;
  check_files(files_of(options.paths), {{"--json", telling.json}, {"--junit", telling.junit}});
  if (!options.sample.empty()) telling.sample = sample_of(options.sample);
  const bool files = std::ranges::none_of(options.paths, is_folder) &&
                     (!options.mask.empty() || options.paths.size() > 1 ||
                      options.paths.front().ends_with(".safetensors"));
  if (files) check_distinct("judge", options.paths);
  return files ? judge_dump(std::move(options)) : judge_folder(options);
}

const Subcommands::Add add("judge", [](CLI::App& program) {
  auto options = std::make_shared<Options>();
  program.description("judges what another program computed: answers to cases, or a dump");
  program
      .add_option("paths", options->paths,
                  "a folder of ringcheck export, filled in; or safetensors of a training step, one a rank")
      ->required()
      ->check(not_empty())
      ->type_name("DIR|FILE");
  program.add_option("--mask", options->mask, "of a dump, as in a case: causal, window[W], doc[L,...]")
      ->check(not_empty())
      ->type_name("MASK");
  program
      .add_option("--balance", options->balance,
                  "of a dump: headtail, contiguous, striped[B]; default: a tensor 'positions' in each file")
      ->check(not_empty())
      ->type_name("BALANCER");
  program.add_option("--case", options->cases, "only this case; may be repeated")
      ->check(not_empty())
      ->type_name("TEXT");
  program
      .add_option("--shows", options->shows,
                  "the tensors that the program has, of o, lse, dq, dk, dv; default: all")
      ->check(not_empty())
      ->type_name("LIST");
  program
      .add_option("--contract", options->contract,
                  "the kernel whose rounding errors it may have: plain, where partial results and gradients are "
                  "added up in float32; default: the loosest")
      ->check(not_empty())
      ->type_name("KERNEL");
  program.add_option("--sample", options->sample, "judge N random queries and keys of each head")
      ->check(not_empty())
      ->type_name("N");
  program.add_option("--json", options->telling.json, "write the result; - is stdout")
      ->check(not_empty())
      ->type_name("FILE");
  program.add_option("--junit", options->telling.junit, "write JUnit XML; - is stdout")
      ->check(not_empty())
      ->type_name("FILE");
  program.add_flag("--verbose,-v", options->telling.verbose, "a line per case");
  return [options] { return run(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
