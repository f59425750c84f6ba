// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/fitting.h"

#include "cli/doctor/doctor_host.h"
#include "cli/to_result.h"

namespace ringcheck::cli {

VisibleGpus gpus_for(const std::vector<parity::Case>& cases) {
  return parity::any_on_cuda(cases) ? visible_gpus() : VisibleGpus{};
}

Memory memory_here(const VisibleGpus& gpus) {
  return {.host = host_memory(), .gpus = gpus.count, .gpu = gpus.memory.value_or(0)};
}

std::vector<reports::CaseResult> supervise_what_fits(const std::vector<parity::Case>& cases, const VisibleGpus& gpus,
                                                     const SupervisorOptions& options) {
  const Memory memory = memory_here(gpus);
  std::vector<reports::CaseResult> results(cases.size());
  std::vector<parity::Case> fitting;
  std::vector<size_t> places;
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto reason = too_large(cases[i], cases[i].world, memory);
    if (!reason) {
      fitting.push_back(cases[i]);
      places.push_back(i);
      continue;
    }
    results[i] = to_result(cases[i], reports::Status::kNotSupported, "it " + *reason);
    if (options.finished) options.finished(results[i]);
  }
  if (fitting.empty()) return results;
  std::vector<reports::CaseResult> ran = supervise(fitting, options);
  for (size_t j = 0; j < ran.size(); ++j) results[places[j]] = std::move(ran[j]);
  return results;
}

}  // namespace ringcheck::cli
