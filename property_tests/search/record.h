// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "property_tests/search/recurrence.h"
#include "reports/result.h"

namespace ringcheck::search {

// A case that fails, and the simplest one found that fails in the same way.
struct Failure {
  std::string found_by;  // regressions | drawn | climb
  parity::Verdict original, minimal;
  int candidates = 0;     // run while shrinking
  bool complete = false;  // shrinking ended because no simpler case fails
  Recurrence recurrence;  // of the minimal case
};

// The command that runs a case alone.
std::string reproduce_command(const parity::Case& test);
std::string findings_text(const parity::Verdict& verdict);

// The file that tells what a search was doing, whatever becomes of its process: it holds the case
// that runs, and the failure as far as it is known. Written whole: beside it, then renamed. A
// record without a failure is removed at the end. An empty path: none is kept.
class Record {
 public:
  Record(std::string path, uint64_t seed, std::string subject);
  ~Record();
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  void running(const parity::Case& test);
  void failed(const Failure& failure);  // found, made simpler, or classified
  bool has_failure() const { return failure_.has_value(); }
  const std::string& path() const { return path_; }

 private:
  void write() const;
  std::string path_, subject_;
  uint64_t seed_;
  reports::Environment environment_;
  std::optional<parity::Case> running_;
  std::optional<Failure> failure_;
};

}  // namespace ringcheck::search
