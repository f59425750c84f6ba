// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parity/fault.h"
#include "parity/runner.h"

namespace ringcheck::parity {

// How planted bugs are hunted.
struct Hunt {
  std::vector<std::string> oracles;  // in the matrix
  bool ask_all = false;  // those with further runs, too, where a cheaper oracle has killed already
  std::string kernel = "plain", device = "cpu";
};

// What became of a fault in one dtype.
struct Cell {
  enum class Result { kKilled, kSurvived, kEquivalent, kNotApplicable };
  std::string fault;
  at::ScalarType dtype = at::kDouble;
  Result result = Result::kNotApplicable;
  // Of those that were asked; a fault that hangs or crashes is seen by "deadline" or "crash", one
  // of the judging by "self-test". Where several cases were run, the worst.
  std::map<std::string, Status> seen_by;
  std::string killer;                // the cheapest that saw it
  double milliseconds = 0;           // until then: the run of the case, and this oracle
  bool localised = false;            // the verdict named what Fault::names says
  std::string finding;               // the first of the killer
  std::string reason;                // of what is not killed
  std::vector<std::string> unclean;  // what is wrong with a case without the fault: must be empty
};
std::string to_text(Cell::Result result);

// Plants a fault in each of its cases, and runs and judges the same cases without it.
Cell hunt(const std::string& fault, at::ScalarType dtype, const Hunt& hunt);

// What a fault of the subject makes of a case: for judges with criteria of their own. Nothing
// where the run ended in a hang or a crash. A case of world 1 is the same subject, undivided.
std::optional<Outcome> faulty_outcome(const Fault& fault, const Case& test);

struct Score {
  int killed = 0, survived = 0, equivalent = 0, localised = 0;
  int counted() const { return killed + survived; }  // equivalent ones cannot be killed
};
Score score_of(const std::vector<Cell>& cells);

}  // namespace ringcheck::parity
