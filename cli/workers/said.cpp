// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/said.h"

#include <c10/util/StringUtil.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

namespace ringcheck::cli {
namespace {

// Bytes of standard output so far; 0 where it is no file.
int64_t written() {
  struct stat state {};
  std::cout.flush();
  std::fflush(nullptr);
  return ::fstat(STDOUT_FILENO, &state) == 0 && S_ISREG(state.st_mode) ? state.st_size : 0;
}

}  // namespace

Said::Said() : before_(written()) {}

std::string Said::text() const {
  const int64_t size = written() - before_, kept = std::min(size, static_cast<int64_t>(kLongestLog));
  if (kept <= 0) return "";
  std::ifstream file("/proc/self/fd/1", std::ios::binary);
  file.seekg(before_ + size - kept);
  std::string text(static_cast<size_t>(kept), ' ');
  file.read(text.data(), kept);
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

std::string tail(const std::string& text, size_t size) {
  return text.size() <= size ? text : text.substr(text.size() - size);
}

std::string in_a_line(const std::string& text) {
  constexpr size_t kShown = 240;
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    if (line.find_first_not_of("- ") != std::string::npos)
      lines.push_back(line);
  std::string all = c10::Join(" ", lines);
  if (all.size() > kShown) {
    all.resize(kShown);
    all.append(" ...");
  }
  return all.empty() ? "it said nothing" : all;
}

std::string self_test_in_a_line(const std::string& text) {
  const size_t begin = text.find("self-test: ");
  if (begin == std::string::npos) return in_a_line(text);
  return in_a_line(text.substr(begin, text.find("MPI_ABORT was invoked", begin) - begin));
}

}  // namespace ringcheck::cli
