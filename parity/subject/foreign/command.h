// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ringcheck::parity {

// The words that follow `ringcheck verify` (docs/cli.md).
struct Words {
  int32_t count;
  const char* const* options;
};

// `ringcheck verify` on ranks that somebody else has started, of which this process is one: every one of them calls it,
// and has the exit code. The subject is that of the words, where they give one, or else `subject`. What is wrong with
// the launch is said on standard error.
int32_t verified_by_all(const Words& words, const std::string& subject);

}  // namespace ringcheck::parity
