// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/guard/guard_file.h"
#include "parity/judge/conservation/mistakes.h"
#include "parity/judge/conservation/shares.h"

namespace ringcheck::cli {

// What is asked of a dump.
struct GuardQuestion {
  std::vector<std::string> files;
  bool unrotated = false;     // whatever the files say
  std::string accumulation;   // DTYPE[LENGTH]: gradients are added up so; empty: as kernels do
};

// A dump and what the laws say of it.
struct Guarded {
  std::vector<std::string> files;
  std::vector<int> ranks;  // of the files; -1: not said
  parity::Parts parts;     // their sums
  parity::ConservationSums sums;
  parity::Arithmetic how;
  std::set<at::ScalarType> dtypes;
  int world = -1;           // -1: not said
  int64_t group = 1;        // query heads of a kv head
  bool has_lse = true;      // in all files
  bool isolated = false;    // of several files, each keeps the laws alone
  std::vector<parity::LawVerdict> laws;
  std::vector<std::vector<double>> shares;  // of a law that fails, by file
  std::vector<std::string> findings;        // all that is wrong, in words
  std::vector<parity::Fit> fits;            // usual mistakes that would explain it
  parity::Status status = parity::Status::kInconclusive;

  bool empty() const { return sums.queries == 0 || sums.keys == 0 || sums.dv.numel() == 0; }
  std::string part_name(size_t file) const;  // rank 2, or the file
};

// One file after the other; only their sums stay. Throws UsageError and parity::BadCase.
Guarded guard(const GuardQuestion& question);

}  // namespace ringcheck::cli
