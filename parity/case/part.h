// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parity/case/case.h"
#include "parity/case/ranges.h"

namespace ringcheck::parity {

// One part of a Case, declared once: its text form, JSON, command line, random cases, shrinking,
// selection in profiles and the table of docs/cli.md follow from its row.
struct Part {
  std::string name;           // in JSON and filters: "kv_heads"
  std::string option;         // on the command line, behind --; empty: it cannot be said by itself
  std::string prefix = {};    // of its piece in the text of a case: "hkv"
  std::string help;
  std::string standard;       // its default, as a value
  // Whether a piece of text without the prefix is a value of this part, right or wrong. Null: the
  // part has no piece of its own.
  std::function<bool(std::string_view)> claims = {};
  std::function<std::string(const Case&)> print = {};         // the value; "": the case has none
  std::function<void(Case&, const std::string&)> parse = {};  // throws BadCase: value, limit, fix
  std::function<std::vector<std::string>()> values = {};     // that lists and profiles may take
  // Where it was not said beside what was: what it follows.
  std::function<void(Case&, const std::set<std::string>& said)> follow = {};
  std::function<std::vector<Case>(const Case&)> simpler = {};  // towards the default, boldest first
  int64_t most = 0;       // of a size: how large it may be
  bool replaces = false;  // said beside a profile it replaces what the cases say, and selects none
  // Takes a value that a profile may name, and draws what that leaves open.
  std::function<void(Case&, const std::string& value, const Ranges&, const Draw&)> draw = {};
};

// All of them, in the order of the text.
const std::vector<Part>& parts();
const Part& part(const std::string& name);  // throws std::out_of_range

// Rows of the table, in the order of the text.
std::vector<Part> method_parts();
std::vector<Part> mask_parts();
std::vector<Part> place_parts();
std::vector<Part> task_parts();
Part lengths_part();

// What parts that were not said follow: kv_heads the heads, dim_v the dim, seq the documents.
void follow(Case& test, const std::set<std::string>& said);

// Parts whose value is a number from 1 to `most`, and parts whose value is a name.
Part size_part(const std::string& name, const std::string& option, const std::string& prefix,
               const std::string& help, int64_t Case::*member, int64_t most);
Part name_part(const std::string& name, const std::string& option, const std::string& help,
               std::string Case::*member, std::function<std::vector<std::string>()> values);

// least, then ever closer: ..., value - 2, value - 1.
std::vector<int64_t> below(int64_t value, int64_t least);

// The case with one thing changed.
Case with(Case test, const std::function<void(Case&)>& change);

}  // namespace ringcheck::parity
