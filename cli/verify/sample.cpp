// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/sample.h"

#include <algorithm>

#include "cli/subcommand.h"
#include "parity/case/case.h"
#include "parity/judge/sampling.h"

namespace ringcheck::cli {

int64_t sample_of(const std::string& text) {
  try {
    if (const int64_t sample = parity::parse_size(text); sample > 0)
      return sample;
  } catch (const parity::BadCase&) {
  }
  throw UsageError("--sample: '" + text + "' is no number of queries and keys from 1 to 2^40 "
                   "(1099511627776); want for "
                   "example --sample 256");
}

std::string sampled_text(int64_t sample, const std::vector<reports::CaseResult>& cases) {
  const auto sampled = std::count_if(cases.begin(), cases.end(), [](const auto& test) {
    return test.parts.contains("sample");
  });
  return "sampled: " + std::to_string(sample) + " queries and keys of each head, in " +
         std::to_string(sampled) + " of " + std::to_string(cases.size()) +
         " cases; dK and dV given the O and LSE of the subject; " +
         parity::chance_to_miss(sample);
}

}  // namespace ringcheck::cli
