// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/envelope.h"

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <vector>

#include "reports/file.h"

namespace ringcheck::reports {
namespace {

using nlohmann::json;

constexpr int kDeepest = 100;  // what is made of a file goes down into it, too

void append(std::string& text, const json& value, const std::string& margin, bool spread);

std::string word(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// The members of an object, or the elements of an array, a line each.
void append_lines(std::string& text, const json& value, const std::string& margin) {
  const bool object = value.is_object();
  text += object ? '{' : '[';
  const char* separator = "\n";
  for (const auto& [name, member] : value.items()) {
    text += separator + margin + ' ';
    if (object) text += word(name) + ": ";
    append(text, member, margin + ' ', object);
    separator = ",\n";
  }
  text += '\n' + margin + (object ? '}' : ']');
}

void append(std::string& text, const json& value, const std::string& margin, bool spread) {
  if (spread && value.is_structured() && !value.empty()) append_lines(text, value, margin);
  else text += word(value);
}

}  // namespace

json parse_json(std::string_view text) {
  std::vector<std::set<std::string>> names;  // of the objects that are open
  const auto strict = [&](int depth, json::parse_event_t event, json& parsed) {
    using Event = json::parse_event_t;
    if ((event == Event::object_start || event == Event::array_start) && depth >= kDeepest)
      throw std::invalid_argument("it is nested deeper than " + std::to_string(kDeepest) + " levels");
    if (event == Event::object_start) names.emplace_back();
    if (event == Event::object_end) names.pop_back();
    if (event == Event::key && !names.back().insert(parsed).second)
      throw std::invalid_argument(word(parsed) + " stands twice in one object");
    return true;
  };
  try {
    return json::parse(text, strict);
  } catch (const json::exception& error) {
    throw std::invalid_argument(words_of(error));
  }
}

std::string words_of(const std::exception& error) {
  const std::string words = error.what();
  return words.starts_with("[json.exception") ? words.substr(words.find("] ") + 2) : words;
}

json envelope(Kind kind, const Environment& environment) {
  return {{"schema_version", kSchemaVersion},
          {"kind", to_text(kind)},
          {"environment", to_json(environment)}};
}

json envelope(Kind kind, const Environment& environment, const json& own) {
  json file = envelope(kind, environment);
  file[to_text(kind)] = own;
  return file;
}

Kind kind_of(const json& file) {
  const auto text = [&](const char* name) {
    const auto found = file.is_object() ? file.find(name) : file.end();
    return found == file.end() ? "none" : word(*found);
  };
  const std::string version = text("schema_version");
  if (version == "1") return Kind::kVerify;
  if (version != std::to_string(kSchemaVersion))
    throw std::invalid_argument("result has schema version " + version +
                                ", this program reads 1 to " + std::to_string(kSchemaVersion));
  if (!file.contains("kind") || !file["kind"].is_string())
    throw std::invalid_argument("result has kind " + text("kind") + "; want a name");
  return parse_kind(file["kind"]);
}

const json& own_member(const json& file, Kind kind) {
  const std::string name = to_text(kind);
  if (const Kind found = kind_of(file); found != kind)
    throw std::invalid_argument("result is of kind " + to_text(found) + "; want " + name);
  if (!file.contains(name)) throw std::invalid_argument("result has no member " + name);
  return file[name];
}

std::string file_text(const json& file) {
  std::string text;
  append(text, file, "", true);
  return text + "\n";
}

void write_json(const std::string& path, const json& file) { write_file(path, file_text(file)); }

}  // namespace ringcheck::reports
