// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>

#include "cp/registry.h"
#include "parity/judge/verdict.h"
#include "parity/subject/outcome.h"
#include "reference/errors/bounds.h"

namespace ringcheck::parity {

// What an oracle may look at.
struct Evidence {
  const Case& test;
  const Subject& subject;  // whose outcome it is: asked for its promises alone
  const Problem& problem;  // of the whole sequence, on the device of the outcome
  const Outcome& outcome;
  const std::vector<Outcome>& variations;  // of the runs that the oracle asked for, in its order
  std::function<void()> tick;  // a sign of life during long work, of one thread at a time
  int64_t sample = 0;          // queries and keys of each head to judge; 0: all
  std::string kept = {};       // the folder of Kept; empty: none

  Promise promise() const { return subject.promise(test); }
};

// What a subject must promise before a relation between its runs says anything.
struct Demand {
  bool same_bits = false;        // that it is deterministic
  bool by_strategy = false;      // that it works as the strategy of the case says
  bool separate_passes = false;
  bool autograd = false;
  bool any_layout = false;
  bool counts_memory = false;
  // The first that is not promised, in words, or nothing.
  std::optional<std::string> unmet(const Promise& promise) const;
};

// Judges an outcome. Adding one is one file in parity/oracles.
struct Oracle {
  std::string proves;  // in a sentence, in the notation of docs/notation.md
  std::function<OracleVerdict(const Evidence&)> judge;
  // Further runs of the same subject that a relation between runs needs. None: the relation says
  // nothing about this case.
  std::function<std::vector<Run>(const Case&)> variations = {};
  enum class Rigour { kExact, kBound } rigour = Rigour::kBound;  // equality, or within a bound
  std::string cost = {};   // of judging, in the notation of docs/notation.md
  std::string needs = {};  // what a case must have for the further runs to say something
  Demand demand = {};
  bool of_form = false;  // speaks of what came back, and what it cost, not of values
  int one_in = 24;       // for further runs: of how many cases to which it applies it is asked of one,
                         // where nobody chose the oracles
  std::set<std::string> reads = {};  // of o, lse, dq, dk, dv: without them it says nothing

  About about() const {
    return of_form ? About::kForm : variations ? About::kRelation : About::kValues;
  }
};
using Oracles = Registry<Oracle>;

}  // namespace ringcheck::parity
