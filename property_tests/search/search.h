// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidcheck.h>

#include <functional>
#include <optional>

#include "parity/case/case_space.h"
#include "property_tests/search/coverage.h"
#include "property_tests/search/record.h"
#include "property_tests/search/workers.h"

namespace ringcheck::search {

// How much shrinking may cost. After a hang every candidate may cost a deadline.
struct Budget {
  int candidates = 2000;
  double seconds = 120;
};

struct SearchOptions {
  uint64_t seed = 1;
  int cases = 200;
  Budget budget;
  Budget after_hang{12, 60};
  std::function<void(const std::string&)> say = [](const std::string&) {};  // a line of progress
};

struct Tally {
  int run = 0, passed = 0, inconclusive = 0, not_supported = 0;
  int skipped = 0;  // they need more ranks than there are
};

// A search for a case that fails. It ends with the first one: RapidCheck shrinks that, the rest of
// the search would mostly find it again.
class Search {
 public:
  Search(Workers& workers, Record& record, const SearchOptions& options)
      : workers_(workers), record_(record), options_(options) {}

  // These cases, each alone. Those that need more ranks than there are are skipped and counted.
  std::optional<Failure> replay(const std::vector<parity::Case>& cases,
                                const std::string& found_by);
  // `options.cases` cases of the space, drawn by RapidCheck. Throws std::logic_error where it ran
  // fewer without a failure.
  std::optional<Failure> draw(const parity::CaseSpace& space, Coverage& coverage);
  // Shrinks a case that has failed, by whomever it was found.
  Failure shrink(const parity::Verdict& original, const std::string& found_by);

  const Tally& tally() const { return tally_; }

 private:
  using Seen = std::function<void(const parity::Verdict&)>;
  std::optional<Failure> check(const rc::Gen<parity::Case>& gen, int count,
                               const std::string& found_by, const Seen& seen);
  void count_in(const parity::Verdict& verdict);
  void classify(Failure& failure);
  parity::Verdict run(const parity::Case& test);

  Workers& workers_;
  Record& record_;
  const SearchOptions& options_;
  Tally tally_;
};

}  // namespace ringcheck::search
