// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/reporter.h"

#include <optional>
#include <regex>

#include "cli/to_result.h"

namespace ringcheck::bench {
namespace {

using Run = benchmark::BenchmarkReporter::Run;

// Those of its case, where its label is one; else the sizes in its name: "rows64" is 64 rows.
std::map<std::string, std::string> parts_of(const Run& run) {
  std::map<std::string, std::string> parts;
  if (!run.report_label.empty())
    parts = cli::to_result(parity::parse_case(run.report_label), reports::Status::kPass, "").parts;
  const std::string name = run.run_name.function_name;
  static const std::regex kSize("/([A-Za-z]+)([0-9]+)(?=/|$)");
  if (parts.empty())
    for (std::sregex_iterator size(name.begin(), name.end(), kSize), end; size != end; ++size)
      parts[(*size)[1]] = (*size)[2];
  parts["benchmark"] = name;
  return parts;
}

std::string unit_of(const std::string& counter) {
  if (counter == "bytes/s") return "B/s";
  if (counter.ends_with("/s")) return counter;
  return counter.find("bytes") == std::string::npos ? "" : "B";
}

// Why a benchmark said nothing, under the names that Google Benchmark has for it before 1.8 and since.
template <class R>
std::optional<std::string> error_of(const R& run) {
  if constexpr (requires { run.error_occurred; })
    return run.error_occurred ? std::optional(run.error_message) : std::nullopt;
  else
    return static_cast<bool>(run.skipped) ? std::optional(run.skip_message) : std::nullopt;
}

}  // namespace

void Reporter::ReportRuns(const std::vector<Run>& runs) {
  ran_ += runs.size();
  for (const Run& run : runs) keep(run);
  ConsoleReporter::ReportRuns(runs);
}

int Reporter::exit_code() const { return !errors_.empty() ? 1 : ran_ == 0 ? 77 : 0; }

void Reporter::keep(const Run& run) {
  if (const std::optional<std::string> error = error_of(run)) {
    errors_[run.benchmark_name()] = *error;
    return;
  }
  if (run.run_type != Run::RT_Iteration) return;  // mean, median: of the samples
  sample(run, "time", "s", "smaller",
         run.GetAdjustedRealTime() / benchmark::GetTimeUnitMultiplier(run.time_unit));
  for (const auto& [name, counter] : run.counters) {
    const bool rate = (counter.flags & benchmark::Counter::kIsRate) != 0;
    sample(run, name, unit_of(name), rate ? "larger" : "", counter.value);
  }
}

void Reporter::sample(const Run& run, const std::string& name, const std::string& unit,
                      const std::string& better, double value) {
  const auto [place, fresh] = places_.try_emplace({run.run_name.str(), name}, list_.size());
  if (fresh) list_.push_back({name, parts_of(run), unit, {}, better, {}});
  list_[place->second].samples.push_back(value);
}

}  // namespace ringcheck::bench
