// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/verify/selection.h"
#include "reports/events.h"
#include "reports/result.h"
#include "reports/waivers.h"

namespace ringcheck::cli {

// How a run of `ringcheck verify` is told.
struct Telling {
  std::string json, junit, markdown;  // files; empty: none
  bool verbose = false;     // a line per case
  std::string oracles;      // as typed: part of the commands that reproduce
  std::optional<double> deadline;  // seconds, where it was given: part of these commands, too
  std::string transport;    // the same
  int64_t sample = 0;       // of parity::RunOptions
  reports::Waivers waivers;  // of failures that are known
  bool clean = false;       // what counts is false alarms: a case that shows nothing is left out
  bool timelines = false;   // the result has those of as many cases as there is room for
};

// From the first case to the exit code.
class VerifyReport {
 public:
  VerifyReport(Telling telling, const Selection& selection, std::string launcher,
               std::string transport);
  void begin() const;
  void line(const reports::CaseResult& test) const;
  // The result if no case came to run, and a case as the result has it.
  reports::Result nothing_ran() const;
  reports::CaseResult noted(reports::CaseResult test) const;
  // Prints, writes the files and returns the exit code.
  int end(std::vector<reports::CaseResult> cases);

 private:
  void complete(std::vector<reports::CaseResult> cases);
  // What the run ends with: asked once, as it looks at all cases.
  struct Ending {
    reports::Waived waived;
    std::map<std::string, std::string> idle;
    int code = 0;
  };
  Ending ending() const;
  // What the run says besides its cases, in lines.
  std::vector<std::string> notes(const Ending& ending) const;
  void print(const Ending& ending) const;
  void write(const Ending& ending) const;
  // Oracles asked for by name that applied to no case, each with a reason.
  std::map<std::string, std::string> idle() const;
  std::ostream& screen() const;  // where the table goes

  Telling telling_;
  const Selection& selection_;
  reports::Result result_;
  reports::Events events_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace ringcheck::cli
