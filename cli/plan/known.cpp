// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/plan/known.h"

#include <map>
#include <nlohmann/json.hpp>
#include <ranges>

#include "plan_figures.h"
#include "reports/envelope.h"

namespace ringcheck::cli {
namespace {

// By GPU, the results that this program carries.
const std::map<std::string, std::string> kFiles{{"h100", "h100_gpu2_threads.json"},
                                                {kUsualGpu, "h200_gpu2_threads.json"}};

}  // namespace

std::vector<std::string> known_gpus() {
  const auto names = std::views::keys(kFiles);
  return {names.begin(), names.end()};
}

Figures figures_of_gpu(const std::string& gpu) {
  return figures_of(reports::result_from_json(reports::parse_json(plan_figures().at(kFiles.at(gpu)))));
}

}  // namespace ringcheck::cli
