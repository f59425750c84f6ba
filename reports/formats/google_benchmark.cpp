// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Google Benchmark's JSON: an entry for each sample of a time, with what else was measured of the
// same parts as its counters.
#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/formats/format.h"
#include "reports/formats/series.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

bool is_time(const Measurement& one) { return one.unit == "s"; }

json context_of(const Environment& environment) {
  return {{"date", environment.started},
          {"host_name", environment.host},
          {"executable", environment.command},
          {"num_cpus", environment.cores},
          {"mhz_per_cpu", 0},  // not known
          {"cpu_scaling_enabled", false},
          {"caches", json::array()},
          {"load_avg", json::array()},
          {"library_build_type", "release"},
          {"json_schema_version", 1},
          {"ringcheck", environment.version},
          {"commit", environment.commit}};
}

// Beside the first time of their parts.
void add_counters(json& entry, const Measurement& time, size_t repetition, const Result& result) {
  for (const Measurement& one : result.measurements)
    if (one.parts == time.parts && !is_time(one) && repetition < one.samples.size() &&
        std::isfinite(one.samples[repetition]))
      entry[one.name] = one.samples[repetition].value;
}

bool is_first_of_parts(const Measurement& time, const Result& result) {
  for (const Measurement& one : result.measurements)
    if (is_time(one) && one.parts == time.parts) return &one == &time;
  return false;
}

}  // namespace

std::string google_benchmark(const Result& result) {
  json entries = json::array();
  const std::vector<std::string> subjects = subjects_of(result);
  int families = 0;
  for (size_t i = 0; i < subjects.size(); ++i) {
    const Measurement& time = result.measurements[i];
    if (!is_time(time)) continue;
    const std::string name = subjects[i] + (time.name == "time" ? "" : "/" + time.name);
    for (size_t at = 0; at < time.samples.size(); ++at) {
      if (!std::isfinite(time.samples[at])) continue;
      json entry{{"name", name},
                 {"family_index", families},
                 {"per_family_instance_index", 0},
                 {"run_name", name},
                 {"run_type", "iteration"},
                 {"repetitions", time.samples.size()},
                 {"repetition_index", at},
                 {"threads", 1},
                 {"iterations", 1},
                 {"real_time", time.samples[at].value},
                 {"cpu_time", time.samples[at].value},  // only the former is measured
                 {"time_unit", "s"}};
      if (is_first_of_parts(time, result)) add_counters(entry, time, at, result);
      entries.push_back(entry);
    }
    ++families;
  }
  const json file{{"context", context_of(result.environment)}, {"benchmarks", entries}};
  return file.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace ringcheck::reports
