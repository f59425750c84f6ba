// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck report measured: times that another program took, as a result of this machine.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/environment.h"
#include "cli/results/report_command.h"
#include "cp/clock.h"
#include "reports/envelope.h"
#include "reports/file.h"
#include "reports/history/plain_text.h"
#include "reports/result.h"

namespace ringcheck::cli {
namespace {

struct Words {
  std::string output, commit;
  std::vector<std::string> times;
};

// Of NAME=SECONDS, the name may hold an equals sign.
std::pair<std::string, double> time_of(const std::string& text) {
  const size_t at = text.rfind('=');
  const char* const end = text.data() + text.size();
  double seconds = 0;
  if (at != std::string::npos && at > 0) {
    const auto [rest, error] = std::from_chars(text.data() + at + 1, end, seconds);
    if (error == std::errc() && rest == end && seconds > 0 && seconds < 1e9) return {text.substr(0, at), seconds};
  }
  throw UsageError("'" + text + "' is no time; want NAME=SECONDS, of seconds above 0 and below 1e9, as backward=0.125");
}

// A hash, or a version: what can be read in a table.
std::string no_commit(const std::string& text) {
  const bool plain = text.size() <= 100 && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || (c != 0 && std::strchr("._+-", c) != nullptr);
  });
  return plain ? "" : "'" + text + "' is no commit; want at most 100 letters, digits and . _ + -";
}

int run(const Words& words) {
  const auto begin = Clock::now();
  std::map<std::string, std::vector<reports::Figure>> times;
  for (const std::string& text : words.times) {
    const auto [name, seconds] = time_of(text);
    if (const std::string why = reports::not_plain(name, reports::kMostOfName); !why.empty())
      throw UsageError("name " + why);
    times[name].push_back(seconds);
  }
  reports::check_writable(words.output);
  reports::Result result;
  result.kind = reports::Kind::kBench;
  result.environment = environment();
  result.environment.command = "ringcheck report measured";
  if (!words.commit.empty()) result.environment.commit = words.commit;
  for (const auto& [name, samples] : times)
    result.measurements.push_back({"time", {{"benchmark", name}}, "s", samples, "smaller", {}});
  result.environment.wall_seconds = seconds_since(begin);  // so that who took as long again has another run
  nlohmann::json file = reports::to_json(result);
  file["bench"] = {{"errors", nlohmann::json::array()}};
  reports::write_json(words.output, file);
  return 0;
}

const ReportCommands::Add add("measured", {[](CLI::App& program) {
  auto words = std::make_shared<Words>();
  program.description("makes a result of times that another program took on this machine");
  program.add_option("-o,--output", words->output, "the result; - is stdout")->required()->check(not_empty());
  program.add_option("--commit", words->commit, "of that program; default: that of ringcheck")
      ->check(not_empty())
      ->check(no_commit);
  program.add_option("TIME", words->times, "NAME=SECONDS; a name that comes again has another sample")->required();
  return [words] { return run(*words); };
}});

}  // namespace
}  // namespace ringcheck::cli
