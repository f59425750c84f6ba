// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <set>
#include <string>
#include <vector>

#include "reports/result.h"

namespace ringcheck::reports {

// A failure that is known and borne for a time.
struct Waiver {
  std::string test, finding;  // patterns of a case and of one of failures_of, where * is any text
  std::string reason;
  std::string until;  // the last day, 2027-01-31
};

// Whether a run alone can have what the pattern is of: an oracle, or how a case ended. `compare` alone finds what has more words
// before a colon, as "rank 1: forward.messages".
bool is_of_one_run(const std::string& finding);

// What is known about findings: which are borne, and which waivers do not hold any more.
class Waivers {
 public:
  Waivers() = default;
  // Of {"waivers": [{"case", "finding", "reason", "until"}]}. Throws std::invalid_argument.
  Waivers(const nlohmann::json& file, std::string today);

  // The reason of the one for this finding that has not expired; empty: there is none.
  std::string reason(const std::string& test, const std::string& finding) const;
  // In words, each waiver whose finding no judged case has any more, and each that has expired and
  // is of a finding that is there.
  struct Finding {
    std::string test, finding;
  };
  std::vector<std::string> stale(const std::vector<Finding>& found,
                                 const std::set<std::string>& judged) const;
  // In words, each waiver that is of none of these cases: mistyped, or of what did not run.
  std::vector<std::string> idle(const std::vector<CaseResult>& cases) const;
  // Those of what a run alone can have.
  Waivers of_one_run() const;
  bool empty() const { return waivers_.empty(); }

 private:
  std::vector<Waiver> waivers_;
  std::string today_;
};

// Of a run alone: the cases whose every failure is borne, and what does not hold.
struct Waived {
  struct Finding {
    std::string test, finding, reason;
  };
  std::vector<Finding> cases;
  std::vector<std::string> stale, idle;  // a line for each
};
std::string to_text(const Waived::Finding& borne);  // "CASE: parity: dq: reason"
// Takes those cases out of what decides an exit code.
Waived waive(const Waivers& waivers, std::vector<CaseResult>& cases);

}  // namespace ringcheck::reports
