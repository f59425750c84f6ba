// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor_smi.h"

#include <c10/util/StringUtil.h>

#include <boost/algorithm/string/trim.hpp>
#include <chrono>
#include <cstddef>
#include <cstdlib>

namespace ringcheck::cli {
namespace {

// The values of a line, at most `most`: the last one takes the rest.
std::vector<std::string> cells(const std::string& line, size_t most) {
  std::vector<std::string> result;
  size_t from = 0;
  while (result.size() + 1 < most) {
    const size_t comma = line.find(',', from);
    if (comma == std::string::npos)
      break;
    result.push_back(boost::algorithm::trim_copy(line.substr(from, comma - from)));
    from = comma + 1;
  }
  result.push_back(boost::algorithm::trim_copy(line.substr(from)));
  return result;
}

bool names_a_gpu(const std::string& cell) {
  const bool digits = !cell.empty() && cell.find_first_not_of("0123456789") == std::string::npos;
  return digits || cell.starts_with("GPU-") || cell.starts_with("MIG-");
}

std::string before_bar(const std::string& field) { return field.substr(0, field.find('|')); }

// Drops the field, or goes on to its older name. False where it was not among them.
bool do_without(std::vector<std::string>& asked, std::vector<std::string>& named,
                const std::string& unknown) {
  for (size_t i = 0; i < asked.size(); ++i) {
    if (before_bar(asked[i]) != unknown)
      continue;
    const size_t bar = asked[i].find('|');
    if (bar != std::string::npos) {
      asked[i] = asked[i].substr(bar + 1);
    } else {
      asked.erase(asked.begin() + static_cast<std::ptrdiff_t>(i));
      named.erase(named.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> value(const Row& row, const std::string& field) {
  const auto found = row.find(field);
  if (found == row.end() || found->second.empty() || found->second.front() == '[' ||
      found->second == "N/A")
    return std::nullopt;
  return found->second;
}

std::optional<double> number(const Row& row, const std::string& field) {
  const std::optional<std::string> text = value(row, field);
  char* end = nullptr;
  const double result = text ? std::strtod(text->c_str(), &end) : 0;
  if (!text || end == text->c_str())
    return std::nullopt;
  return result;
}

std::vector<Row> parse_rows(const std::string& text, const std::vector<std::string>& fields) {
  std::vector<Row> rows;
  for (const std::string& line : lines_of(text)) {
    const std::vector<std::string> values = cells(line, fields.size());
    if (values.size() != fields.size() || !names_a_gpu(values.front()))
      continue;
    Row row;
    for (size_t i = 0; i < fields.size(); ++i)
      row[fields[i]] = values[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<std::string> unknown_field(const std::string& text) {
  const size_t end = text.find("\" is not a valid field");
  const size_t begin = end == std::string::npos || end == 0 ? end : text.rfind('"', end - 1);
  if (begin == std::string::npos || begin == end)
    return std::nullopt;
  return text.substr(begin + 1, end - begin - 1);
}

Answer Smi::ask(std::vector<std::string> words) const {
  words.insert(words.begin(), path);
  return cli::ask(words, seconds);
}

Queried Smi::query(const std::string& what, const std::vector<std::string>& fields) const {
  std::vector<std::string> asked = fields, named;
  for (const std::string& field : fields)
    named.push_back(before_bar(field));
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (true) {
    std::vector<std::string> current;
    for (const std::string& field : asked)
      current.push_back(before_bar(field));
    Answer answer =
        ask({"--query-" + what + "=" + c10::Join(",", current), "--format=csv,noheader,nounits"});
    const auto unknown = unknown_field(answer.text);
    if (unknown && std::chrono::steady_clock::now() < until && do_without(asked, named, *unknown) &&
        !asked.empty())
      continue;
    std::vector<Row> rows = parse_rows(answer.text, named);
    return {std::move(rows), std::move(answer)};
  }
}

}  // namespace ringcheck::cli
