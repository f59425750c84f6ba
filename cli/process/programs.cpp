// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/process/programs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

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

std::optional<char> process_state(pid_t pid) noexcept {
  constexpr std::string_view folder = "/proc/", name = "/stat";
  char path[32] = {};
  char* end = std::ranges::copy(folder, path).out;
  end = std::to_chars(end, path + sizeof path - name.size() - 1, pid).ptr;
  std::ranges::copy(name, end);
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  char text[256];  // a number, a name of up to 64 bytes which may hold anything, the state
  const ssize_t bytes = ::read(file, text, sizeof text);  // none, where the process ends meanwhile
  ::close(file);
  const std::string_view read(text, bytes < 0 ? 0 : static_cast<size_t>(bytes));
  const size_t close = read.rfind(") ");
  return close == std::string_view::npos || close + 2 >= read.size() ? std::nullopt
                                                                     : std::optional(read[close + 2]);
}

bool is_alive(pid_t pid) noexcept {
  const std::optional<char> state = process_state(pid);
  return state && state != 'Z' && state != 'X';
}

bool runs_with(pid_t pid, const std::string& word) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  for (std::string found; std::getline(stream, found, '\0');)
    if (found == word)
      return true;
  return false;
}

}  // namespace ringcheck::cli
