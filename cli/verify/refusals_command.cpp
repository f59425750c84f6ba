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
#include "cli/read_json.h"
#include "cli/subcommand.h"
#include "cli/verify/profiles.h"
#include "cli/verify/refusals.h"
#include "cp/device/cuda_library.h"
#include "reports/file.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

struct Options {
  std::string device = "cpu", profile = "conformance", json, against;
};

// The list of a device in a folder.
Refusals listed_in(const std::string& folder, const std::string& device) {
  const std::string path = std::filesystem::path(folder) / (device + ".json");
  if (!std::filesystem::exists(path))
    throw UsageError("there is no list '" + path + "' of what kernels refuse on " + device +
                     "; --json " + path + " writes one");
  const nlohmann::json json = read_json(path);
  try {
    return refusals_from_json(json);
  } catch (const nlohmann::json::exception& error) {
    throw UsageError("'" + path + "' is no list of refusals: " + error.what());
  }
}

// "refused of 3040 cases on cpu: flash 971, plain 0", then the reasons.
void print(const Refusals& refusals, std::ostream& screen) {
  std::vector<std::string> sums;
  std::string lines;
  for (const auto& [kernel, reasons] : refusals.kernels) {
    int64_t sum = 0;
    for (const auto& [reason, count] : reasons) {
      sum += count;
      lines += reports::right(std::to_string(count), 7) + "  " + reason + "\n";
    }
    sums.push_back(kernel + " " + std::to_string(sum));
  }
  screen << "refused of " << refusals.cases << " cases on " << refusals.device << ": "
            << c10::Join(", ", sums) << "\n"
            << lines << std::flush;
}

// 1 where anything differs.
int compare(const Refusals& here, const Refusals& listed) {
  const std::vector<std::string> lines = differences(here, listed);
  for (const std::string& line : lines)
    std::cerr << "ringcheck: " << line << "\n";
  return lines.empty() ? 0 : 1;
}

int run(const Options& options) {
  if (!options.json.empty())
    reports::check_writable(options.json);
  if (options.device == "cuda" && why_no_cuda())
    throw UsageError(*why_no_cuda());
  std::optional<Refusals> listed;  // read before the work
  if (!options.against.empty())
    listed = listed_in(options.against, options.device == "cpu" ? "cpu" : gpu_architecture());
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
