// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/dashboard/details.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

constexpr const char* kPasses[] = {"forward", "backward"};
constexpr const char* kWhat[] = {"attend", "merge", "send", "receive"};

const json& events_of(const json& rank, const char* pass) {
  static const json none = json::array();
  const auto found = rank.at(pass).find("events");
  return found == rank.at(pass).end() ? none : *found;
}

size_t events_in(const json& test) {
  size_t sum = 0;
  for (const json& rank : test.at("ranks"))
    for (const char* pass : kPasses) sum += events_of(rank, pass).size();
  return sum;
}

// Null where it is not known.
json nanoseconds(const json& seconds) {
  return seconds.is_number() ? json(std::llround(seconds.get<double>() * 1e9)) : json();
}

size_t number_of(const json& operation, json& operations) {
  const auto found = std::find(operations.begin(), operations.end(), operation);
  if (found != operations.end()) return static_cast<size_t>(found - operations.begin());
  operations.push_back(operation);
  return operations.size() - 1;
}

// What it is, begin, end, and what its kind has.
json row_of(const json& event, json& operations) {
  const std::string what = event.at("what");
  json row{std::ranges::find(kWhat, what) - kWhat, nanoseconds(event.at("begin")),
           nanoseconds(event.at("end"))};
  const auto add = [&](std::initializer_list<const char*> names) {
    for (const char* name : names) row.push_back(event.at(name));
  };
  if (what == "attend") add({"pairs", "flops"});
  if (what == "send" || what == "receive") {
    add({"peer", "bytes", "step"});
    row.push_back(number_of(event.at("operation"), operations));
  }
  return row;
}

void add_events(const json& test, json& row) {
  json ranks = json::array(), operations = json::array();
  for (const json& rank : test.at("ranks")) {
    json passes = json::array();
    for (const char* pass : kPasses) {
      json events = json::array();
      for (const json& event : events_of(rank, pass)) events.push_back(row_of(event, operations));
      passes.push_back(std::move(events));
    }
    ranks.push_back(std::move(passes));
  }
  row["events"] = std::move(ranks);
  row["operations"] = std::move(operations);
}

}  // namespace

void add_case_events(const json& tests, size_t room, json& rows) {
  for (const bool passed : {false, true})
    for (size_t i = 0; i < tests.size(); ++i) {
      const size_t events = events_in(tests[i]);
      if ((tests[i].at("verdict") == "pass") != passed || events == 0 || events > room ||
          !rows[i].contains("ranks"))
        continue;
      room -= events;
      add_events(tests[i], rows[i]);
    }
}

}  // namespace ringcheck::reports
