// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/parity/faults/detection_gate.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "parity/case/data_family.h"
#include "property_tests/cli/program.h"

namespace ringcheck::testing {
namespace {

using nlohmann::json;

// What became of each fault.
std::map<std::string, std::string> results_in(const json& matrix, const std::string& dtype) {
  std::map<std::string, std::string> results;
  for (const json& cell : own_part(matrix).at("cells"))
    if (cell.at("dtype") == dtype) results[cell.at("fault")] = cell.at("result");
  return results;
}

std::string place_of(const json& limit) {
  std::vector<std::string> parts;
  for (const char* part : {"dtype", "what", "scope", "by"}) parts.push_back(limit.at(part));
  return c10::Join(", ", parts);
}

// By place; nothing is seen where there is none.
std::map<std::string, double> seen_limits(const json& result) {
  std::map<std::string, double> limits;
  for (const json& limit : own_part(result).at("limits"))
    if (!limit.at("epsilon").is_null()) limits[place_of(limit)] = limit.at("epsilon");
  return limits;
}

bool is_silent(const json& test, const std::string& tensor) {
  return parity::DataFamilies::at(test.at("parts").at("data")).silent.contains(tensor);
}

// The result itself says that no bounds judged it on any rank: nobody did, or an oracle of exact
// answers, of what has no signal for bounds: L = ln 1 of one key.
bool has_no_bounds(const json& test, const std::string& tensor) {
  if (!test.contains("judged") || !test.at("judged").contains(tensor)) return false;
  return std::ranges::none_of(test.at("judged").at(tensor),
                              [](const json& by) { return by == "bounded"; });
}

std::string vacuity_of(const json& test, const json& tensor) {
  const std::string name = tensor.at("tensor"), verdict = tensor.at("verdict");
  const json& share = tensor.at("vacuity");
  if (verdict == "pass" && share.is_number() && share < kVacuous) return "";
  if (verdict == "not_applicable" && (is_silent(test, name) || has_no_bounds(test, name))) return "";
  return name + " (" + verdict + ", vacuity " + share.dump() + ") of " +
         test.at("name").get<std::string>();
}

}  // namespace

json committed_result(const std::string& name) {
  return json::parse(read_text(std::string(RINGCHECK_SOURCE_DIR) + "/reports/results/" + name));
}

const json& own_part(const json& result) {
  return result.contains("kind") ? result.at(result.at("kind").get<std::string>()) : result;
}

json& own_part(json& result) { return const_cast<json&>(own_part(std::as_const(result))); }

std::vector<std::string> lost_kills(const json& matrix, const json& committed,
                                    const std::string& dtype) {
  const auto now = results_in(matrix, dtype), before = results_in(committed, dtype);
  std::vector<std::string> lost;
  for (const auto& [fault, result] : before) {
    const auto found = now.find(fault);
    const std::string here = found == now.end() ? "not hunted" : found->second;
    if (result == "killed" && here != "killed")
      lost.push_back(fault + " in " + dtype + ": " + here);
  }
  for (const auto& [fault, result] : now)
    if (const auto found = before.find(fault);
        result == "survived" && (found == before.end() || found->second == "not_applicable"))
      lost.push_back(fault + " in " + dtype + ": survived");
  return lost;
}

std::vector<std::string> doubled_limits(const json& found, const json& committed,
                                        const std::set<std::string>& dtypes) {
  const std::set<std::string> ours{"hard", "stat", "chart", "parity"};
  const auto now = seen_limits(found);
  std::vector<std::string> doubled;
  for (const json& limit : own_part(committed).at("limits")) {
    const std::string place = place_of(limit);
    const json& epsilon = limit.at("epsilon");
    const std::string dtype = limit.at("dtype"), by = limit.at("by");
    if (epsilon.is_null() || !ours.contains(by) || !dtypes.contains(dtype)) continue;
    const auto here = now.find(place);
    if (here == now.end()) doubled.push_back(place + ": no error is seen");
    else if (!(here->second <= 2 * epsilon.get<double>()))
      doubled.push_back(place + ": " + std::to_string(here->second / epsilon.get<double>()) +
                        " times as large");
  }
  return doubled;
}

std::vector<std::string> vacuous(const json& result) {
  std::vector<std::string> list;
  for (const json& test : result.at("cases")) {
    std::set<std::string> missing{"o", "lse", "dq", "dk", "dv"};
    for (const json& oracle : test.at("oracles"))
      for (const json& tensor : oracle.at("tensors"))
        if (oracle.at("name") == "parity") {
          missing.erase(tensor.at("tensor"));
          if (const std::string text = vacuity_of(test, tensor); !text.empty())
            list.push_back(text);
        }
    for (const std::string& tensor : missing)
      list.push_back(tensor + " is not judged in " + test.at("name").get<std::string>());
  }
  return list;
}

}  // namespace ringcheck::testing
