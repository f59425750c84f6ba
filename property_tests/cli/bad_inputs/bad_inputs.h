// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "property_tests/cli/bad_inputs/described.h"
#include "property_tests/cli/program.h"

namespace ringcheck::testing {

// A call that docs/cli.md says is refused, and what its first line must hold.
struct BadInput {
  using Words = std::vector<std::string>;
  Words words;
  Words value;  // any of these: how it names what is wrong
  Words limit;  // any of these: what would be right; empty: nothing in particular
  std::map<std::string, std::string> environment = {};
};

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  size_t below(size_t count) { return random_() % count; }
  bool toss() { return below(2) == 1; }
  template <class Items>
  const auto& of(const Items& items) {
    return items.at(below(items.size()));
  }

 private:
  std::mt19937_64 random_;
};

// An option that takes names, and which.
struct Named {
  std::string command, option;
  std::vector<std::string> names;
  bool list = true;
};

// What there is to choose from, of one folder with files that nobody can read.
struct Material {
  explicit Material(std::string folder);

  std::string folder;
  std::vector<DescribedCommand> commands;
  std::vector<Limit> limits;
  std::vector<Named> named;
  std::vector<std::string> unreadable;  // no file of ours, whatever is wanted
  std::vector<std::string> unwritable;
  Folder own;  // what commands may touch
  std::string history, journal;

  const DescribedCommand& command(const std::string& name) const;
  // The command with what it requires but this option; all but the last word in a place is right.
  std::vector<std::string> call(const std::string& name, const std::string& without = "") const;
};

// One way of being wrong.
using Mutator = std::function<BadInput(Dice&, const Material&)>;
using Mutators = std::vector<std::pair<std::string, Mutator>>;
Mutators wrong_words();
Mutators wrong_values();
Mutators wrong_files();
Mutators wrong_environments();

// One letter of the name less, more, or another one; none of the known ones.
std::string misspelt(const std::string& name, const std::vector<std::string>& known, Dice& dice);

}  // namespace ringcheck::testing
