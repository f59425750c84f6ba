// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/machine.h"

#include <set>

namespace ringcheck::reports {

std::map<std::string, std::string> machine_of(const Environment& environment) {
  return {{"cpu", environment.cpu},
          {"cores", std::to_string(environment.cores)},
          {"device", environment.device},
          {"launcher", environment.launcher},
          {"transport", environment.transport}};
}

std::vector<std::string> differences(const std::map<std::string, std::string>& a,
                                     const std::map<std::string, std::string>& b) {
  std::set<std::string> names;
  for (const auto* side : {&a, &b})
    for (const auto& [name, value] : *side) names.insert(name);
  const auto shown = [](const std::map<std::string, std::string>& side, const std::string& name) {
    const auto found = side.find(name);
    return found == side.end() ? "none" : "'" + found->second + "'";
  };
  std::vector<std::string> lines;
  for (const std::string& name : names)
    if (shown(a, name) != shown(b, name))
      lines.push_back(name + " " + shown(a, name) + " against " + shown(b, name));
  return lines;
}

}  // namespace ringcheck::reports
