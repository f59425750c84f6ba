// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/dashboard/parts_table.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

json in_order(const std::map<std::string, size_t>& numbers) {
  json list(std::vector<json>(numbers.size()));
  for (const auto& [text, number] : numbers) list[number] = text;
  return list;
}

}  // namespace

json PartsTable::row_of(const json& parts) {
  std::vector<int> row(names_.size(), -1);
  for (const auto& [part, value] : parts.items()) {
    const size_t column = names_.try_emplace(part, names_.size()).first->second;
    if (column >= row.size()) row.resize(column + 1, -1);
    row[column] = static_cast<int>(texts_.try_emplace(value.get<std::string>(), texts_.size()).first->second);
  }
  return row;
}

void PartsTable::put_into(json& page) const {
  page["part_names"] = in_order(names_);
  page["texts"] = in_order(texts_);
}

size_t CaseTable::number_of(const std::string& name, const json& parts) {
  const auto [found, is_new] = numbers_.try_emplace(name, numbers_.size());
  if (is_new) rows_.push_back({name, parts_.row_of(parts)});
  return found->second;
}

}  // namespace ringcheck::reports
