// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/history/largest_errors.h"

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/formats/largest.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

struct Figures {
  const char *name, *member;
  double limit;
};
constexpr Figures kFigures[] = {{"largest error / bound", "hard_ratio", 1.001},
                                {"largest error in sigmas", "max_z", 8},
                                {"largest blind share", "vacuity", 0.02}};

using Key = std::array<std::string, 3>;  // kernel, dtype, tensor

// Of "ringcheck verify: 352 cases of profile smoke, each with its own fixed seed": "cases of profile smoke".
std::string selection_of(const std::string& command) {
  const size_t colon = command.find(": ");
  const size_t begin = command.find_first_not_of("0123456789 ", colon == std::string::npos ? 0 : colon + 2);
  return begin == std::string::npos ? "" : command.substr(begin, command.find(',', begin) - begin);
}

Run::Point point_of(const Key& key, const std::string& command, const Figures& figures, double value) {
  const json parts{
      {"kernel", key[0]}, {"dtype", key[1]}, {"tensor", key[2]}, {"selection", selection_of(command)}};
  return {figures.name, parts.dump(), "", "smaller", json::array({value}).dump(), value, figures.limit};
}

std::string part(const CaseResult& test, const std::string& name) {
  const auto found = test.parts.find(name);
  return found == test.parts.end() ? "" : found->second;
}

}  // namespace

std::vector<Run::Point> largest_errors(const std::vector<CaseResult>& cases, const std::string& command) {
  std::map<Key, Largest> largest;
  for (const CaseResult& test : cases) {
    if (test.verdict != Status::kPass) continue;
    const std::string kernel = part(test, "kernel");
    for (const OracleResult& oracle : test.oracles)
      for (const TensorResult& tensor : oracle.tensors)
        largest[{kernel.empty() ? part(test, "subject") : kernel, part(test, "dtype"), tensor.tensor}].add(tensor);
  }
  std::vector<Run::Point> points;
  for (const auto& [key, found] : largest) {
    const std::optional<double> values[] = {found.error, found.sigmas, found.blind};
    for (size_t i = 0; i < std::size(values); ++i)
      if (values[i] && *values[i] > 0) points.push_back(point_of(key, command, kFigures[i], *values[i]));
  }
  return points;
}

std::vector<Run::Point> largest_errors(const json& largest_of_passed, const std::string& command) {
  std::vector<Run::Point> points;
  for (const auto& [name, entry] : largest_of_passed.items()) {
    std::istringstream words(name);
    Key key;
    words >> key[0] >> key[1] >> key[2];
    // Beyond a limit nothing passes: a summary from before 2026-11-23 counted what nobody judged.
    for (const Figures& figures : kFigures)
      if (const double value = entry.at(figures.member); value > 0 && value <= figures.limit)
        points.push_back(point_of(key, command, figures, value));
  }
  return points;
}

}  // namespace ringcheck::reports
