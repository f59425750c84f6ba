// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "parity/case/part.h"

namespace ringcheck::parity {
namespace {

std::vector<Part> all_parts() {
  std::vector<Part> all;
  for (const auto& rows : {method_parts(), mask_parts(), place_parts(), task_parts()})
    all.insert(all.end(), rows.begin(), rows.end());
  for (Part& row : all)
    if (!row.draw)
      row.draw = [parse = row.parse](Case& c, const std::string& value, const Ranges&,
                                     const Draw&) { parse(c, value); };
  return all;
}

}  // namespace

const std::vector<Part>& parts() {
  static const std::vector<Part> table = all_parts();
  return table;
}

const Part& part(const std::string& name) {
  for (const Part& row : parts())
    if (row.name == name) return row;
  throw std::out_of_range("a case has no part " + name);
}

void follow(Case& test, const std::set<std::string>& said) {
  for (const char* own : {"strategy", "rotation", "kernel"})
    if (!test.is_ours() && said.contains(own))
      throw BadCase(std::string(own) + " is said of subject " + test.subject +
                    ", which has none; say its arguments in brackets behind its name, or leave " +
                    own + " out");
  for (const Part& row : parts())
    if (row.follow) row.follow(test, said);
}

Part size_part(const std::string& name, const std::string& option, const std::string& prefix,
               const std::string& help, int64_t Case::*member, int64_t most) {
  Part row{.name = name, .option = option, .prefix = prefix, .help = help,
           .standard = std::to_string(Case{}.*member), .most = most};
  row.claims = [](std::string_view text) { return !text.empty() && std::isdigit(text[0]); };
  row.print = [=](const Case& c) { return std::to_string(c.*member); };
  row.parse = [=](Case& c, const std::string& text) { c.*member = parse_size(text); };
  row.simpler = [=](const Case& test) {
    std::vector<Case> list;
    for (const int64_t less : below(test.*member, 1))
      list.push_back(with(test, [&](Case& c) { c.*member = less; }));
    return list;
  };
  return row;
}

Part name_part(const std::string& name, const std::string& option, const std::string& help,
               std::string Case::*member, std::function<std::vector<std::string>()> values) {
  Part row{.name = name, .option = option, .help = help, .standard = Case{}.*member};
  row.claims = [=](std::string_view text) {
    for (const std::string& known : values())
      if (text == known) return true;
    return false;
  };
  row.print = [=](const Case& c) { return c.*member; };
  row.parse = [=](Case& c, const std::string& text) { c.*member = text; };
  row.values = values;
  return row;
}

std::vector<int64_t> below(int64_t value, int64_t least) {
  std::vector<int64_t> list;
  for (int64_t gap = value - least; gap > 0; gap /= 2) list.push_back(value - gap);
  return list;
}

Case with(Case test, const std::function<void(Case&)>& change) {
  change(test);
  return test;
}

}  // namespace ringcheck::parity
