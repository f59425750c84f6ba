// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace ringcheck {

// A name-ordered table of every member of one family. Each member's source file adds itself;
// tests, sweeps and benchmarks iterate over all().
template <class Entry>
class Registry {
 public:
  struct Add {
    Add(const std::string& name, Entry entry) {
      if (!table().emplace(name, std::move(entry)).second)
        throw std::logic_error("registered twice: " + name);
    }
  };
  static const std::map<std::string, Entry>& all() { return table(); }

  // Throws std::out_of_range naming the members there are.
  static const Entry& at(const std::string& name) {
    const auto found = table().find(name);
    if (found != table().end()) return found->second;
    std::string names;
    for (const auto& [known, entry] : table()) names += (names.empty() ? "" : ", ") + known;
    throw std::out_of_range("unknown name '" + name + "'; known: " + names);
  }

 private:
  static std::map<std::string, Entry>& table() {
    static std::map<std::string, Entry> entries;
    return entries;
  }
};

}  // namespace ringcheck
