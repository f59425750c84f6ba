// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ringcheck::cli {

// note: worth knowing. warning: measurements, or some cases, suffer. error: results would be wrong
// or nothing runs.
enum class Severity { kOk, kNote, kWarning, kError };

// Something that was looked at on this machine.
struct Finding {
  std::string id;  // "gpu.0.ecc"; the word before the first dot is its group
  Severity severity = Severity::kOk;
  std::string what;   // "GPU 0 ECC"
  std::string value;  // as it was found, and what follows from it
  std::string fix;    // the command, the variable or the deed; empty where nothing is to be done
};

// What one part of the machine looks like.
struct Examined {
  nlohmann::json facts = nlohmann::json::object();
  std::vector<Finding> findings;

  void add(Finding finding) { findings.push_back(std::move(finding)); }
  void join(const Examined& other) {
    facts.update(other.facts);
    findings.insert(findings.end(), other.findings.begin(), other.findings.end());
  }
};

}  // namespace ringcheck::cli
