// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ringcheck::cli {

// A training step that was dumped, as `guard` takes it, and what its files do not say.
struct Dump {
  std::vector<std::string> files;  // one a rank
  std::string mask;
  std::string balance;  // empty: each file has its positions
};

// The same as a folder of one case that was answered; whether it has LSE. Throws UsageError and
// parity::BadCase.
bool write_dump(const Dump& dump, const std::string& folder);

}  // namespace ringcheck::cli
