// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/doctor/finding.h"

namespace ringcheck::cli {

// A shared library as a run would load it.
struct Library {
  std::string path;
  std::map<std::string, int> versions;  // by the function that says it
  std::string failure;                  // why there is no version
};

// By name: "libnccl.so.2". One line each: name, path, version function and its value, or '!' and
// the failure, with tabs between.
std::map<std::string, Library> parse_libraries(const std::string& text);

// Loads all the libraries in this process and prints such a line as soon as one is known. May
// crash.
void print_libraries();

// `gpus`: is there one that would need them?
std::vector<Finding> judge_libraries(const std::map<std::string, Library>& libraries, bool gpus);

// Lets a child process, `ringcheck doctor --print-libraries`, load them. The fact "libraries" is an
// object of objects.
Examined examine_libraries(double seconds, bool gpus);

}  // namespace ringcheck::cli
