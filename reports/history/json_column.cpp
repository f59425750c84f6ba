// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/history/json_column.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "reports/envelope.h"

namespace ringcheck::reports {

nlohmann::json texts_in(const Database& database, const std::string& column, const std::string& of) try {
  nlohmann::json texts = parse_json(column);
  const auto is_text = [](const nlohmann::json& value) { return value.is_string(); };
  if (!texts.is_object() || !std::all_of(texts.begin(), texts.end(), is_text))
    throw std::invalid_argument("it is no object of texts");
  return texts;
} catch (const std::invalid_argument& error) {
  throw BadHistory("'" + database.path() + "' is damaged: the JSON of " + of + " cannot be read: " + error.what() +
                   "; add what `ringcheck report export` still gives of its runs to a new history");
}

}  // namespace ringcheck::reports
