// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck compare: is the second of two results worse than the first?
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <set>

#include "cli/arguments.h"
#include "cli/environment.h"
#include "cli/files.h"
#include "cli/results/read_result.h"
#include "cli/results/read_waivers.h"
#include "cli/subcommand.h"
#include "cli/verify/part_lists.h"
#include "parity/case/part.h"
#include "parity/case/text/nearest.h"
#include "reports/compare/comparison.h"
#include "reports/envelope.h"
#include "reports/file.h"
#include "reports/history/history.h"
#include "reports/history/trend.h"

namespace ringcheck::cli {
namespace {

struct Words {
  std::vector<std::string> ignore;
  std::string base, new_, history, waivers, json, markdown;
  bool across_machines = false;
  reports::SpeedQuestion question;
};

// Of a list with commas.
std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names = CLI::detail::split(list, ',');
  if (list.ends_with(',') || std::ranges::find(names, "") != names.end())
    throw UsageError("'" + list + "' has an empty value; want names with one comma between each two");
  return names;
}

// What may differ is a part of a case, or something else that results have.
void check_ignored(const std::vector<std::string>& ignored, const reports::Side& base,
                   const reports::Side& new_) {
  std::set<std::string> parts;
  for (const parity::Part& part : parity::parts()) parts.insert(part.name);
  const auto add_names = [&](const auto& list) {
    for (const auto& one : list)
      for (const auto& [name, value] : one.parts) parts.insert(name);
  };
  for (const auto* side : {&base, &new_})
    for (const reports::Result& run : side->runs) add_names(run.cases), add_names(run.measurements);
  for (const std::string& name : ignored)
    if (!parts.contains(name))
      throw UsageError("--ignore: " + parity::unknown_name("part", name, {parts.begin(), parts.end()}));
}

// The results of a side, and their ids. A file of this name goes before a run of the history.
class Reader {
 public:
  explicit Reader(const std::string& history) {
    if (!history.empty()) history_.emplace(history);
  }

  // Of names with commas between.
  reports::Side side(const std::string& names) {
    reports::Side side;
    for (const std::string& name : names_in(names)) {
      std::error_code ignored;  // a name that is too long is no file
      const bool file = std::filesystem::exists(name, ignored);
      reports::Run run = file || !history_ ? read_run(name) : held(name);
      if (const auto [known, is_new] = ids_.emplace(run.id, name); !is_new)
        throw UsageError("'" + name + "' is the same run as '" + known->second + "'; want different runs on both sides");
      side.names.push_back(name);
      side.runs.push_back(whole_result(name, nlohmann::json::parse(run.text)));
    }
    return side;
  }

  // Of earlier runs on the machine of this one.
  std::vector<double> medians(const reports::Measurement& series, const reports::Environment& machine) {
    std::vector<double> medians;
    const auto ids = std::views::keys(ids_);
    const std::set<std::string> without(ids.begin(), ids.end());
    for (const reports::TrendPoint& point : reports::trend(history_->database(), series, machine, without))
      medians.push_back(point.median);
    return medians;
  }
  bool has_history() const { return history_.has_value(); }

 private:
  reports::Run held(const std::string& name) {
    const std::string id = history_->find(name);
    try {
      return reports::run_of(history_->file(id));
    } catch (const std::invalid_argument& error) {
      throw UsageError("run " + id + " is no result of RingCheck: " + error.what() + "; compare others");
    }
  }

  std::optional<reports::History> history_;
  std::map<std::string, std::string> ids_;  // and how it was named
};

reports::Comparison compared(const Words& words) {
  Reader reader(words.history);
  std::optional<reports::Waivers> waivers;
  if (!words.waivers.empty()) waivers = read_waivers(words.waivers);
  reports::Side base = reader.side(words.base), new_ = reader.side(words.new_);
  const std::vector<std::string> may_differ = split_values("--ignore", words.ignore);
  check_ignored(may_differ, base, new_);
  reports::SpeedQuestion question = words.question;
  const reports::Environment machine = base.runs.front().environment;
  if (reader.has_history())
    question.history = [&](const reports::Measurement& series) { return reader.medians(series, machine); };
  const reports::Ignored ignored{words.across_machines, {may_differ.begin(), may_differ.end()}};
  try {
    reports::Comparison all = reports::compare(std::move(base), std::move(new_), ignored, question);
    if (waivers) reports::apply(*waivers, all);
    return all;
  } catch (const reports::Incomparable& error) {
    throw UsageError(error.what());
  }
}

void check(const Words& words) {
  split_values("--ignore", words.ignore);
  std::vector<std::string> inputs = history_files(words.history);
  inputs.push_back(words.waivers);
  for (const std::string& side : {words.base, words.new_})
    std::ranges::move(names_in(side), std::back_inserter(inputs));
  check_files(inputs, {{"--json", words.json}, {"--markdown", words.markdown}});
}

int run(const Words& words) {
  check(words);
  const reports::Comparison comparison = compared(words);
  reports::screen_beside({words.json, words.markdown}) << reports::console_text(comparison) << std::flush;
  if (!words.markdown.empty()) reports::write_file(words.markdown, reports::markdown_text(comparison));
  reports::Environment here = environment();
  here.command = "ringcheck compare";
  if (!words.json.empty())
    reports::write_json(words.json, reports::envelope(reports::Kind::kCompare, here,
                                                      reports::to_json(comparison)));
  return reports::exit_code(comparison);
}

const Subcommands::Add add("compare", [](CLI::App& program) {
  auto words = std::make_shared<Words>();
  program.description("is NEW worse than BASE? First what fails, then what is counted, then speed");
  const auto name = [&](const char* option, auto& value, const char* says, const char* type) {
    return program.add_option(option, value, says)->check(not_empty())->type_name(type);
  };
  name("BASE", words->base, "results, or with --history its runs; several with commas", "LIST")->required();
  name("NEW", words->new_, "likewise", "LIST")->required();
  name("--history", words->history, "knows runs by their ids, and how far runs of the same code differ", "FILE");
  program.add_option("--margin", words->question.margin, "a slowdown up to this is none; default 0.02")
      ->check(between(0, 1));
  program.add_flag("--interleaved", words->question.interleaved,
                   "samples of both sides were taken in turns: each stands for itself, not each run");
  name("--ignore", words->ignore, "parts that may differ, as kernel or seq", "LIST");
  program.add_flag("--across-machines", words->across_machines, "machines may differ");
  name("--waivers", words->waivers, "failures that are known, each with a reason and a last day", "FILE");
  name("--json", words->json, "write the comparison; - is stdout", "FILE");
  name("--markdown", words->markdown, "write a page of it; - is stdout", "FILE");
  return [words] { return run(*words); };
});

}  // namespace
}  // namespace ringcheck::cli
