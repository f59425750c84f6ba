// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/detection/limits.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/detection/opened.h"
#include "cli/read_json.h"
#include "reports/screen/table.h"

namespace ringcheck::cli {
namespace {

using parity::Limit;

// A column where a name is not there yet, in the order in which they come; ours come first.
void remember(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

// Two digits say all: the grid has 8 steps a decade.
std::string epsilon_text(const std::optional<double>& epsilon) {
  std::ostringstream text;
  text << std::scientific << std::setprecision(1);
  if (epsilon) text << *epsilon;
  else text << "inf";
  return text.str();
}

struct Table {
  std::string dtype;
  std::vector<std::string> rows, columns;
  std::map<std::pair<std::string, std::string>, std::string> cells;

  std::string cell(const std::string& row, const std::string& column) const {
    const auto found = cells.find({row, column});
    return found == cells.end() ? "-" : found->second;
  }
};

std::vector<Table> tables(const std::vector<Limit>& limits) {
  std::vector<Table> list;
  for (const Limit& limit : limits) {
    if (list.empty() || list.back().dtype != limit.dtype)
      list.push_back({limit.dtype, {}, {"hard", "stat", "chart"}, {}});
    if (limit.by == "parity") continue;
    Table& table = list.back();
    const std::string row = limit.what + ", " + limit.scope;
    remember(table.rows, row);
    remember(table.columns, limit.by);
    table.cells[{row, limit.by}] = epsilon_text(limit.epsilon);
  }
  return list;
}

std::string line(const std::vector<std::string>& words) {
  std::string text = "|";
  for (const std::string& word : words) text += " " + word + " |";
  return text + "\n";
}

}  // namespace

std::string markdown_text(const Limits& limits) {
  std::string text;
  for (const Table& table : tables(limits.list)) {
    std::vector<std::string> words{table.dtype};
    words.insert(words.end(), table.columns.begin(), table.columns.end());
    text += "\n" + line(words) + line(std::vector<std::string>(words.size(), "---"));
    for (const std::string& row : table.rows) {
      words = {row};
      for (const std::string& column : table.columns) words.push_back(table.cell(row, column));
      text += line(words);
    }
  }
  return text;
}

// Of ours alone: the table of all is wider than a terminal.
std::string console_text(const Limits& limits, const reports::Paint& paint) {
  Limits ours = limits;
  std::erase_if(ours.list, [](const Limit& limit) {
    return limit.by != "hard" && limit.by != "stat" && limit.by != "chart";
  });
  std::string text = "Smallest relative error that is seen in 95 % of " +
                     std::to_string(limits.trials) + " trials, kernel " + limits.kernel + "\n";
  for (const Table& table : tables(ours.list)) {
    std::vector<std::string> header{table.dtype};
    header.insert(header.end(), table.columns.begin(), table.columns.end());
    reports::Table screen(header, 1);
    for (const std::string& row : table.rows) {
      reports::Table::Row cells{row};
      for (const std::string& column : table.columns) cells.emplace_back(table.cell(row, column));
      screen.add(std::move(cells));
    }
    text += "\n" + screen.text(paint);
  }
  return text + paint(reports::Tone::kFaint,
                      "  hard   beyond the bound that rounding allows; inf: none up to 100 is\n"
                      "  stat   beyond 8 predicted standard deviations\n"
                      "  chart  errors spread otherwise than this kernel was calibrated to\n");
}

nlohmann::json to_json(const Limits& limits) {
  nlohmann::json list = nlohmann::json::array();
  for (const Limit& limit : limits.list)
    list.push_back({{"dtype", limit.dtype},
                    {"what", limit.what},
                    {"scope", limit.scope},
                    {"by", limit.by},
                    {"epsilon", limit.epsilon ? nlohmann::json(*limit.epsilon) : nullptr}});
  return reports::envelope(reports::Kind::kSensitivity, limits.environment,
                           {{"kernel", limits.kernel}, {"trials", limits.trials}, {"limits", list}});
}

Limits limits_from_json(const nlohmann::json& file) {
  const auto [environment, json] = opened(file, reports::Kind::kSensitivity);
  Limits limits;
  limits.environment = environment;
  limits.kernel = json.value("kernel", parity::Case{}.kernel);  // earlier ones are of this one
  limits.trials = count_in(json.at("trials"), "trials");
  for (const nlohmann::json& limit : json.at("limits")) {
    limits.list.push_back({limit.at("dtype"), limit.at("what"), limit.at("scope"), limit.at("by"),
                           {}});
    if (const nlohmann::json& epsilon = limit.at("epsilon"); !epsilon.is_null())
      limits.list.back().epsilon = epsilon.get<double>();
  }
  return limits;
}

}  // namespace ringcheck::cli
