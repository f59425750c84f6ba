// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reports/result.h"

namespace ringcheck::bench {

// Prints what Google Benchmark prints, and keeps it: of every benchmark its time and each of its
// counters, a sample a repetition.
class Reporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override;

  // 1: a benchmark ended in an error, 77: none ran. Google Benchmark's own main ends well even so.
  int exit_code() const;
  const std::vector<reports::Measurement>& measurements() const { return list_; }
  // What went wrong, by benchmark.
  const std::map<std::string, std::string>& errors() const { return errors_; }

 private:
  void keep(const Run& run);
  void sample(const Run& run, const std::string& name, const std::string& unit,
              const std::string& better, double value);

  size_t ran_ = 0;
  std::map<std::string, std::string> errors_;
  std::vector<reports::Measurement> list_;
  std::map<std::pair<std::string, std::string>, size_t> places_;  // by benchmark and name
};

}  // namespace ringcheck::bench
