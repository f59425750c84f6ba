// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/refusals/refusals.h"

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "cli/read_json.h"
#include "cp/attention/attention_kernel.h"
#include "cp/device/cuda_library.h"

namespace ringcheck::cli {
namespace {

std::string without_numbers(const std::string& reason) {
  static const std::regex number("\\b[0-9]+\\b");
  return std::regex_replace(reason, number, "N");
}

int64_t count_of(const std::map<std::string, int64_t>& counts, const std::string& reason) {
  const auto found = counts.find(reason);
  return found == counts.end() ? 0 : found->second;
}

std::string plural(int64_t count) {
  return std::to_string(count) + (count == 1 ? " case" : " cases");
}

}  // namespace

Refusals refusals_of(const std::vector<parity::Case>& cases, const std::string& device) {
  parity::Case probe;
  probe.device = device;
  Refusals refusals{device == "cpu" ? device : gpu_architecture(), 0, {}};
  for (const parity::Case& test : cases)
    refusals.cases += test.world_kind == "thread";
  for (const std::string& kernel : kernels_on(parity::device_type_of(probe))) {
    auto& reasons = refusals.kernels[kernel];
    for (parity::Case test : cases) {
      if (test.world_kind != "thread")
        continue;
      test.kernel = kernel;
      if (const auto reason = parity::not_supported(test))
        ++reasons[without_numbers(*reason)];
    }
  }
  return refusals;
}

nlohmann::json to_json(const Refusals& refusals) {
  return {{"device", refusals.device}, {"cases", refusals.cases}, {"kernels", refusals.kernels}};
}

Refusals refusals_from_json(const nlohmann::json& file) {
  Refusals listed{file.at("device"), count_in(file.at("cases"), "cases"), {}};
  for (const auto& [kernel, reasons] : file.at("kernels").get<nlohmann::json::object_t>())
    for (auto& counts = listed.kernels[kernel];
         const auto& [reason, count] : reasons.get<nlohmann::json::object_t>())
      counts[reason] = count_in(count, "kernel " + kernel + ", " + reason);
  return listed;
}

std::vector<std::string> differences(const Refusals& here, const Refusals& listed) {
  std::vector<std::string> lines;
  if (here.cases != listed.cases)
    lines.push_back(plural(here.cases) + " were asked, the list is of " + plural(listed.cases) +
                    ": the profile is another one");
  std::set<std::string> kernels;
  for (const auto* side : {&here, &listed})
    for (const auto& [kernel, unused] : side->kernels)
      kernels.insert(kernel);
  for (const std::string& kernel : kernels) {
    if (!here.kernels.contains(kernel) || !listed.kernels.contains(kernel)) {
      lines.push_back("kernel " + kernel + " is " +
                      (here.kernels.contains(kernel) ? "not in the list" : "not there any more"));
      continue;
    }
    const auto &now = here.kernels.at(kernel), &then = listed.kernels.at(kernel);
    std::set<std::string> reasons;
    for (const auto* side : {&now, &then})
      for (const auto& [reason, unused] : *side)
        reasons.insert(reason);
    for (const std::string& reason : reasons)
      if (count_of(now, reason) != count_of(then, reason))
        lines.push_back("kernel " + kernel + " refuses " + plural(count_of(now, reason)) +
                        ", listed " + std::to_string(count_of(then, reason)) + ": " + reason);
  }
  return lines;
}

}  // namespace ringcheck::cli
