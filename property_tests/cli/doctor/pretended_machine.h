// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "property_tests/cli/program.h"

namespace ringcheck::testing {

using Variables = std::map<std::string, std::string>;

// A folder with a program nvidia-smi that knows some healthy GPUs.
class PretendedMachine {
 public:
  explicit PretendedMachine(int gpus = 2);
  void change(int gpu, const std::string& field, const std::string& value);
  void remove(int gpu, const std::string& field);
  // "p2p", "links" and "processes" are what nvidia-smi prints.
  void file(const std::string& name, const std::string& text) const;
  // Replaces nvidia-smi, or adds another program.
  void program(const std::string& name, const std::string& script) const;
  std::string path() const;  // for PATH

 private:
  void rewrite(int gpu) const;

  Folder folder_;
  std::vector<Variables> gpus_;
};

// What `ringcheck doctor` found.
struct Diagnosis {
  Ran ran;
  nlohmann::json all;

  const nlohmann::json& machine() const { return all["doctor"]["machine"]; }
  const nlohmann::json& findings() const { return all["doctor"]["findings"]; }
  // Null where there is none of that id.
  nlohmann::json finding(const std::string& id) const;
  // Of the findings that begin so and are not "ok".
  std::set<std::string> ids(const std::string& beginning) const;
};
Diagnosis diagnose(const Variables& environment, const std::string& deadline = "10");
Diagnosis diagnose(const PretendedMachine& machine);

// There is such a finding, with these words in it, and people are told.
void expect(const Diagnosis& diagnosis, const std::string& id, const std::string& severity,
            const std::string& value, const std::string& fix);

}  // namespace ringcheck::testing
