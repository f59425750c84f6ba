// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parity/faults/fault.h"
#include "parity/judge/verdict.h"

namespace ringcheck::parity {

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
  // Of what it says, each by itself; nothing where it says none.
  std::optional<bool> names_tensor = {}, names_rank = {};
  std::string finding;               // the first of the killer
  std::string reason;                // of what is not killed
  std::vector<std::string> unclean;  // what is wrong with a case without the fault: must be empty
  std::string test;                  // of a profile: the case that killed it
  int cases = 0;                     // of a profile: that were run until then
  // What the tests of other projects would say; of faults of the subject.
  std::map<std::string, Status> peers;
};
std::string to_text(Cell::Result result);

// A run that ended in one of these has noticed the fault.
bool killed(const Verdict& verdict);

// Everything that a verdict says is wrong.
struct Said {
  std::vector<std::string> findings, tensors;
};
Said said_by(const Verdict& verdict);

// Does a verdict name what it should? Without demands it does.
bool names_tensor(const Named& wanted, const Said& said);
bool names_rank(const Named& wanted, const Said& said);
bool localises(const Named& wanted, const Said& said);

// Somebody noticed, after so long. The soonest is the killer.
void saw(Cell& cell, const std::string& who, double seconds, const std::string& finding);
// The same of everybody who was asked for this verdict.
void enter(const Verdict& verdict, Cell& cell);

struct Score {
  int killed = 0, survived = 0, equivalent = 0, localised = 0;
  int counted() const { return killed + survived; }  // equivalent ones cannot be killed
};
Score score_of(const std::vector<Cell>& cells);

// Faults of the judging that nobody noticed, by name and dtype.
std::vector<std::string> survivors_of_judging(const std::vector<Cell>& cells);

}  // namespace ringcheck::parity
