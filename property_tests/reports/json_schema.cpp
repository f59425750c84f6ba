// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/reports/json_schema.h"

#include <algorithm>
#include <regex>
#include <set>

namespace ringcheck::testing {
namespace {

using nlohmann::json;

const std::set<std::string> kKnown{"$schema",     "$ref",        "title",
                                   "description", "definitions", "type",
                                   "required",    "properties",  "additionalProperties",
                                   "items",       "enum",        "const",
                                   "anyOf",       "minimum",     "minLength",
                                   "pattern"};

bool has_type(const json& value, const std::string& type) {
  if (type == "object")
    return value.is_object();
  if (type == "array")
    return value.is_array();
  if (type == "string")
    return value.is_string();
  if (type == "boolean")
    return value.is_boolean();
  if (type == "integer")
    return value.is_number_integer();
  return type == "number" && value.is_number();
}

class Validator {
 public:
  explicit Validator(const json& root) : root_(root) {}

  void check(const json& schema, const json& value, const std::string& at) {
    if (schema.contains("$ref"))
      check(root_.at(json::json_pointer(schema["$ref"].get<std::string>().substr(1))), value, at);
    for (const auto& [keyword, argument] : schema.items()) {
      if (kKnown.count(keyword) == 0)
        fail(at, "the schema has an unknown keyword " + keyword);
      if (!holds(keyword, argument, value))
        fail(at,
             keyword + " " + argument.dump() + " does not hold for " + value.dump().substr(0, 80));
    }
    if (value.is_object())
      check_members(schema, value, at);
    if (value.is_array() && schema.contains("items"))
      for (size_t i = 0; i < value.size(); ++i)
        check(schema["items"], value[i], at + "/" + std::to_string(i));
    if (schema.contains("anyOf") && !any(schema["anyOf"], value))
      fail(at, "no alternative of anyOf holds");
  }

  std::vector<std::string> violations;

 private:
  void fail(const std::string& at, const std::string& what) {
    violations.push_back(at + ": " + what);
  }

  static bool holds(const std::string& keyword, const json& argument, const json& value) {
    if (keyword == "type")
      return has_type(value, argument);
    if (keyword == "const")
      return value == argument;
    if (keyword == "enum")
      return std::find(argument.begin(), argument.end(), value) != argument.end();
    if (keyword == "minimum")
      return !value.is_number() || value >= argument;
    if (!value.is_string())
      return true;
    if (keyword == "minLength")
      return value.get<std::string>().size() >= argument.get<size_t>();
    if (keyword == "pattern")
      return std::regex_search(value.get<std::string>(), std::regex(argument.get<std::string>()));
    return true;
  }

  void check_members(const json& schema, const json& value, const std::string& at) {
    for (const json& name : schema.value("required", json::array()))
      if (!value.contains(name))
        fail(at, "member " + name.get<std::string>() + " is missing");
    const json properties = schema.value("properties", json::object());
    for (const auto& [name, member] : value.items()) {
      if (properties.contains(name))
        check(properties[name], member, at + "/" + name);
      else if (schema.contains("additionalProperties"))
        check(schema["additionalProperties"], member, at + "/" + name);
    }
  }

  bool any(const json& alternatives, const json& value) const {
    return std::any_of(alternatives.begin(), alternatives.end(), [&](const json& alternative) {
      Validator attempt(root_);
      attempt.check(alternative, value, "");
      return attempt.violations.empty();
    });
  }

  const json& root_;
};

}  // namespace

std::vector<std::string> schema_violations(const json& schema, const json& document) {
  Validator validator(schema);
  validator.check(schema, document, "");
  return validator.violations;
}

}  // namespace ringcheck::testing
