// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/dashboard/compact.h"
#include "reports/dashboard/details.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

constexpr size_t kRuns = 60;

json limit_of(const json& limit) {
  return {limit.at("dtype"), limit.at("what"), limit.at("scope"), limit.at("by"),
          rounded(limit.at("epsilon"))};
}

json limits_of(const json& file) {
  const json& own = file.at("sensitivity");
  json limits = json::array();
  for (const json& limit : own.at("limits"))
    if (limit.at("by") == "parity") limits.push_back(limit_of(limit));
  return {{"kernel", own.value("kernel", "")}, {"limits", std::move(limits)}};
}

}  // namespace

void add_detection_limits(History& history, const ChosenRuns& runs, json& page) {
  json list = json::array();
  for (size_t i = runs.rows.size(); i-- > 0 && list.size() < kRuns;)
    if (runs.rows[i].kind == "sensitivity") {
      json limits = read_file(history, runs.rows[i], page, limits_of);
      if (limits.is_null()) continue;
      limits["run"] = i;
      list.insert(list.begin(), std::move(limits));
    }
  page["limits"] = std::move(list);
}

}  // namespace ringcheck::reports
