// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <string>

namespace ringcheck::reports {

// The parts of cases and series on a page, each text once: a row has the numbers of texts, in the
// order of the names of all parts, and -1 where it has no such part.
class PartsTable {
 public:
  nlohmann::json row_of(const nlohmann::json& parts);
  void put_into(nlohmann::json& page) const;

 private:
  std::map<std::string, size_t> names_, texts_;
};

// The cases on a page, numbered as they are met: [name, parts].
class CaseTable {
 public:
  explicit CaseTable(PartsTable& parts) : parts_(parts) {}
  size_t size() const { return numbers_.size(); }
  size_t number_of(const std::string& name, const nlohmann::json& parts);
  const nlohmann::json& rows() const { return rows_; }

 private:
  PartsTable& parts_;
  std::map<std::string, size_t> numbers_;
  nlohmann::json rows_ = nlohmann::json::array();
};

}  // namespace ringcheck::reports
