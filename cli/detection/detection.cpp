// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck detection: how well do the oracles see? Writes the page that says so from results.
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/detection/detection_page.h"
#include "cli/files.h"
#include "cli/read_json.h"
#include "cli/subcommand.h"
#include "cp/words.h"
#include "reports/file.h"

namespace ringcheck::cli {
namespace {

struct Options {
  std::string matrix, limits, markdown;
  std::vector<std::string> clean, profiles;
};

// What `take` makes of the JSON in a file.
template <class Take>
auto taken(const nlohmann::json& json, const std::string& path, const std::string& command, const Take& take) {
  try {
    return take(json);
  } catch (const std::exception& error) {
    throw UsageError("'" + path + "' is no result of `" + command + "`: " + words_of(error) +
                     "; give what its --json wrote");
  }
}
template <class Take>
auto taken_from(const std::string& path, const std::string& command, const Take& take) {
  return taken(read_json(path), path, command, take);
}

Source source_of(const std::string& path, const std::string& command,
                 const reports::Environment& environment) {
  return {std::filesystem::path(path).filename(), command, environment.commit, environment.cpu};
}

// Of verify the result itself says which cases it ran; of summaries, who made them.
void check_random(const nlohmann::json& json) {
  const std::string command = json.at("environment").at("command");
  if (command.starts_with("ringcheck verify: ") && command.find(" random clean cases, seed ") == std::string::npos)
    throw std::invalid_argument("it is of `" + command + "`, not of random clean cases");
}

void add_clean_run(const nlohmann::json& run, const std::string& path, Detection& detection) {
  taken(run, path, "ringcheck verify --clean", [&](const nlohmann::json& json) {
    check_random(json);
    const FalseAlarms here = false_alarms_in(json);
    const nlohmann::json& environment = json.at("environment");
    detection.alarms.judged += here.judged;
    detection.alarms.alarms += here.alarms;
    detection.sources.push_back({std::filesystem::path(path).filename(), environment.at("command"),
                                 environment.at("commit"), environment.at("cpu")});
    return here;
  });
}

// Clean cases that are counted twice would look like more than they are.
void add_clean_runs(const std::vector<std::string>& paths, Detection& detection) {
  check_distinct("detection", paths);
  std::map<nlohmann::json, std::string> seen;
  for (const std::string& path : paths) {
    const auto [run, is_new] = seen.emplace(read_json(path), path);
    if (!is_new)
      throw UsageError("detection: '" + path + "' has the same content as '" + run->second +
                       "'; give every run once");
    add_clean_run(run->first, path, detection);
  }
}

void add_profile(const std::string& path, Detection& detection) {
  const std::string command = "ringcheck faults --profile";
  detection.profiles.push_back(taken_from(path, command, [](const nlohmann::json& json) {
    KillMatrix matrix = matrix_from_json(json);
    if (matrix.profile.empty()) throw std::invalid_argument("its faults are in their own cases");
    return matrix;
  }));
  const KillMatrix& matrix = detection.profiles.back();
  detection.sources.push_back(
      source_of(path, command + " " + matrix.profile, matrix.environment));
}

int run(const Options& options) {
  std::vector<std::string> inputs{options.matrix, options.limits};
  for (const auto* files : {&options.clean, &options.profiles})
    inputs.insert(inputs.end(), files->begin(), files->end());
  check_files(inputs, {{"--markdown", options.markdown}});
  const std::string faults = "ringcheck faults", sensitivity = "ringcheck faults --sensitivity";
  Detection detection;
  detection.matrix = taken_from(options.matrix, faults, matrix_from_json);
  detection.limits = taken_from(options.limits, sensitivity, limits_from_json);
  detection.sources = {source_of(options.matrix, faults, detection.matrix.environment),
                       source_of(options.limits, sensitivity, detection.limits.environment)};
  for (const std::string& path : options.profiles) add_profile(path, detection);
  add_clean_runs(options.clean, detection);
  const std::string page = markdown_text(detection);
  if (options.markdown.empty()) std::cout << page << std::flush;
  else reports::write_file(options.markdown, page);
  return 0;
}

const Subcommands::Add add("detection", [](CLI::App& program) {
  auto options = std::make_shared<Options>();
  program.description("writes the page that says how well the oracles see");
  program.add_option("MATRIX", options->matrix, "of `ringcheck faults --json`")
      ->required()
      ->check(not_empty());
  program.add_option("LIMITS", options->limits, "of `ringcheck faults --sensitivity --json`")
      ->required()
      ->check(not_empty());
  program.add_option("CLEAN", options->clean, "of `ringcheck verify --clean --json`, or summaries")
      ->required()
      ->check(not_empty());
  program.add_option("--profile", options->profiles,
                     "of `ringcheck faults --profile NAME --json`: a column in the tables")
      ->type_name("FILE")
      ->check(not_empty());
  program.add_option("--markdown", options->markdown, "write the page; default: print it")
      ->type_name("FILE")
      ->check(not_empty());
  return [options] { return run(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
