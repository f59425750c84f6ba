// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck refusals: what the kernels of a device refuse of the profile conformance, against a
// list.
#include <c10/util/StringUtil.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/files.h"
#include "cli/read_json.h"
#include "cli/screen.h"
#include "cli/subcommand.h"
#include "cli/verify/profiles.h"
#include "cli/verify/refusals/refusals.h"
#include "cp/device/cuda_library.h"
#include "reports/file.h"
#include "reports/screen/table.h"

namespace ringcheck::cli {
namespace {

struct Options {
  std::string device = "cpu", profile = "conformance", json, against;
};

std::string list_in(const std::string& folder, const std::string& device) {
  return std::filesystem::path(folder) / (device + ".json");
}

// The list of a device in a folder.
Refusals listed_in(const std::string& folder, const std::string& device) {
  const std::string path = list_in(folder, device);
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    throw UsageError("there is no list '" + path + "' of what kernels refuse on " + device +
                     "; use --json " + path + " to write one");
  const nlohmann::json json = read_json(path);
  try {
    Refusals listed = refusals_from_json(json);
    if (listed.device != device)
      throw std::invalid_argument("it is of device '" + listed.device + "', not '" + device + "'");
    return listed;
  } catch (const std::exception& error) {
    throw UsageError("'" + path + "' is no list of refusals: " + error.what() +
                     "; name a folder with those of `ringcheck refusals --json`");
  }
}

// Each kernel and how many of the cases it refuses, with the reasons.
void print(const Refusals& refusals, std::ostream& screen) {
  reports::Table table({"kernel, on " + refusals.device, "refuses", "of cases"}, 1);
  for (const auto& [kernel, reasons] : refusals.kernels) {
    int64_t sum = 0;
    std::vector<std::string> lines;
    for (const auto& [reason, count] : reasons) {
      sum += count;
      lines.push_back(std::to_string(count) + ": " + reason);
    }
    table.add({kernel, std::to_string(sum), std::to_string(refusals.cases)},
              c10::Join("; ", lines));
  }
  screen << table.text(paint_on(screen)) << std::flush;
}

// 1 where anything differs.
int compare(const Refusals& here, const Refusals& listed) {
  const std::vector<std::string> lines = differences(here, listed);
  for (const std::string& line : lines)
    std::cerr << complaint(line);
  return lines.empty() ? 0 : 1;
}

int run(const Options& options) {
  if (options.device == "cuda" && why_no_cuda())
    throw UsageError(*why_no_cuda());
  const std::string device = options.device == "cpu" ? "cpu" : gpu_architecture();
  const bool against = !options.against.empty();
  check_files({against ? list_in(options.against, device) : ""}, {{"--json", options.json}});
  std::optional<Refusals> listed;  // read before the work
  if (against) listed = listed_in(options.against, device);
  const Refusals refusals =
      refusals_of(cases_of(profile(options.profile), options.device), options.device);
  print(refusals, reports::screen_beside(options.json));
  if (!options.json.empty())
    reports::write_file(options.json, to_json(refusals).dump(1) + "\n");
  return listed ? compare(refusals, *listed) : 0;
}

const Subcommands::Add add("refusals", [](CLI::App& program) {
  auto options = std::make_shared<Options>();
  program.description("counts what the kernels refuse of a profile, against a committed list");
  program.add_option("--device", options->device, "whose kernels")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  program.add_option("--profile", options->profile, "whose cases")
      ->check(not_empty())
      ->capture_default_str();
  program.add_option("--against", options->against, "the folder that holds a list for each device")
      ->type_name("FOLDER")
      ->check(not_empty());
  program.add_option("--json", options->json, "write the list; - is stdout")
      ->type_name("FILE")
      ->check(not_empty());
  return [options] { return run(*options); };
});

}  // namespace
}  // namespace ringcheck::cli
