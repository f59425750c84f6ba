// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/sensitivity_page.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using parity::Limit;

// A column where a name is not there yet, in the order in which they come; ours come first.
void remember(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
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
    table.cells[{row, limit.by}] = limit.epsilon ? reports::figure(*limit.epsilon) : "inf";
  }
  return list;
}

std::string line(const std::vector<std::string>& words) {
  std::string text = "|";
  for (const std::string& word : words) text += " " + word + " |";
  return text + "\n";
}

}  // namespace

std::string markdown_text(const std::vector<Limit>& limits) {
  std::string text;
  for (const Table& table : tables(limits)) {
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

// Ours only: the table of all is wider than a terminal.
std::string console_text(const std::vector<Limit>& limits) {
  std::vector<Limit> ours;
  for (const Limit& limit : limits)
    if (limit.by == "hard" || limit.by == "stat" || limit.by == "chart") ours.push_back(limit);
  return markdown_text(ours);
}

nlohmann::json to_json(const std::vector<Limit>& limits) {
  nlohmann::json list = nlohmann::json::array();
  for (const Limit& limit : limits)
    list.push_back({{"dtype", limit.dtype},
                    {"what", limit.what},
                    {"scope", limit.scope},
                    {"by", limit.by},
                    {"epsilon", limit.epsilon ? nlohmann::json(*limit.epsilon) : nullptr}});
  return list;
}

}  // namespace ringcheck::cli
