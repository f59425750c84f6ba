// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/verify/part_lists.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/subcommand.h"
#include "parity/case/text.h"

namespace ringcheck::cli {
namespace {

using parity::BadCase;
using parity::Case;
using parity::Part;

constexpr int64_t kTokens = 1 << 20;  // sizes that may be so large are told that they may be said shorter

void set(const Part& part, Case& test, const std::string& value) {
  try {
    part.parse(test, value);
  } catch (const BadCase& error) {
    if (part.most > 0 && std::string(error.what()).find("is not a size") != std::string::npos)
      throw BadCase("--" + part.option + ": '" + value + "' is not a size; want a whole number from 1 to " +
                    std::to_string(part.most) + (part.most < kTokens ? "" : ", with K or M for 1024 or 1048576"));
    throw BadCase("--" + part.option + ": " + error.what());
  }
}

std::string bare(const std::string& text) { return text.substr(0, text.find('[')); }

// The form in which it is printed; what cannot be parsed stays, and then matches no case.
std::string canonical(const Part& part, const std::string& value) {
  try {
    Case test;
    part.parse(test, value);
    return part.print(test);
  } catch (const BadCase&) {
    return value;
  }
}

bool matches(const Part& part, const Case& test, const std::string& value) {
  const std::string own = part.print(test);
  return own == canonical(part, value) || bare(own) == value ||
         own.substr(0, own.find(':')) == value;
}

void check_occurs(const Part& part, const std::vector<Case>& cases, const std::string& value) {
  std::set<std::string> known;
  for (const Case& test : cases) {
    if (matches(part, test, value))
      return;
    known.insert(bare(part.print(test)));
  }
  throw UsageError("the profile has no case with --" + part.option + " " + value +
                   "; it has: " + c10::Join(", ", known));
}

std::vector<Case> replaced(std::vector<Case> cases, const Part& part,
                           const std::vector<std::string>& values) {
  if (values.size() > 1)
    throw UsageError("--" + part.option +
                     " takes one value beside --profile, whose cases it replaces");
  for (Case& test : cases) {
    set(part, test, values.front());
    parity::validate(test);
  }
  return cases;
}

// What is listed twice would be run and counted twice: 1K and 1024 are the same value.
void check_distinct(const PartLists& values) {
  for (const Part& part : options_of_cases()) {
    const auto given = values.find(part.option);
    if (given == values.end())
      continue;
    std::map<std::string, std::string> seen;
    for (const std::string& value : given->second)
      if (const auto [same, is_new] = seen.emplace(canonical(part, value), value); !is_new)
        throw UsageError("--" + part.option + " lists the same value twice, as " + same->second +
                         " and as " + value + "; leave one of them out");
  }
}

// A rotation is the argument of a strategy: two places to say one thing must not differ.
void check_said_once(const PartLists& values) {
  const auto strategy = values.find("strategy");
  if (strategy == values.end() || values.find("rotation") == values.end()) return;
  for (const std::string& text : strategy->second)
    if (text.find(':') != std::string::npos)
      throw UsageError("--strategy " + text + " says its rotation, and so does --rotation; "
                       "leave one of them out");
}

}  // namespace

std::vector<Part> options_of_cases() {
  std::vector<Part> rows = parity::parts();
  std::erase_if(rows, [](const Part& part) { return part.option.empty(); });
  std::ranges::stable_partition(rows, [](const Part& part) { return part.name == "world"; });
  return rows;
}

std::vector<std::string> split_values(const std::string& option,
                                      const std::vector<std::string>& lists) {
  std::vector<std::string> values;
  for (const std::string& list : lists)
    for (const std::string& value : parity::split(list, ',')) {
      if (value.empty())
        throw BadCase(option + ": the list '" + list + "' has an empty value; leave it out");
      if (std::ranges::find(values, value) != values.end())
        throw BadCase(option + ": the list '" + list + "' has " + value +
                      " twice; leave one of them out");
      values.push_back(value);
    }
  return values;
}

std::vector<Case> product(const PartLists& values, const Case& base) {
  check_said_once(values);
  check_distinct(values);
  std::vector<Case> cases{base};
  std::set<std::string> said;
  for (const Part& part : options_of_cases()) {
    const auto given = values.find(part.option);
    if (given == values.end())
      continue;
    said.insert(part.name);
    std::vector<Case> more;
    for (const Case& test : cases)
      for (const std::string& value : given->second) {
        more.push_back(test);
        set(part, more.back(), value);
      }
    cases = std::move(more);
  }
  for (Case& test : cases) {
    parity::follow(test, said);
    parity::validate(test);
  }
  return cases;
}

std::vector<Case> filtered(std::vector<Case> cases, const PartLists& values) {
  check_said_once(values);
  check_distinct(values);
  for (const Part& part : options_of_cases()) {
    const auto given = values.find(part.option);
    if (given == values.end())
      continue;
    if (part.replaces) {
      cases = replaced(std::move(cases), part, given->second);
      std::set<std::string> said;
      for (const Part& other : options_of_cases())
        if (values.contains(other.option)) said.insert(other.name);
      for (Case test : cases)
        if (!test.is_ours()) parity::follow(test, said);  // or throws
      continue;
    }
    for (const std::string& value : given->second)
      check_occurs(part, cases, value);
    std::erase_if(cases, [&](const Case& test) {
      return std::none_of(given->second.begin(), given->second.end(),
                          [&](const std::string& value) { return matches(part, test, value); });
    });
  }
  return cases;
}

}  // namespace ringcheck::cli
