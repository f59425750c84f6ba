// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <thread>

#include "bench/sweep.h"
#include "version.h"

namespace {

// Google Benchmark's own main ends well even where a benchmark ended in an error.
class CountingReporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) errors_ += run.error_occurred;
    ran_ += runs.size();
    ConsoleReporter::ReportRuns(runs);
  }
  int exit_code() const { return errors_ > 0 ? 1 : ran_ == 0 ? 77 : 0; }

 private:
  size_t errors_ = 0, ran_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("ringcheck", ringcheck::version());
  benchmark::AddCustomContext("commit", ringcheck::commit());
  std::vector<ringcheck::bench::Benchmark> list;
  for (const auto& [name, add] : ringcheck::bench::Sweeps::all()) add(list);
  for (const auto& entry : list) {
    auto* registered = benchmark::RegisterBenchmark(entry.name.c_str(), entry.body);
    registered->Unit(benchmark::kMillisecond);
    if (entry.manual_time) registered->UseManualTime();
    else registered->UseRealTime();
  }
  CountingReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return reporter.exit_code();
}
