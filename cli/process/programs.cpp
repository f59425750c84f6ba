// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/process/programs.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ringcheck::cli {

std::optional<std::string> find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = folder + "/" + name;
    if (!folder.empty() && ::access(candidate.c_str(), X_OK) == 0 &&
        std::filesystem::is_regular_file(candidate))
      return candidate;
  }
  return std::nullopt;
}

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

std::string process_state(pid_t pid) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/stat");
  std::string text;  // nothing, where the process ends while it is read
  std::getline(stream, text, '\0');
  const size_t close = text.rfind(") ");  // the name before it may hold anything
  return close == std::string::npos ? "" : text.substr(close + 2, 1);
}

bool runs_with(pid_t pid, const std::string& word) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  for (std::string found; std::getline(stream, found, '\0');)
    if (found == word)
      return true;
  return false;
}

}  // namespace ringcheck::cli
