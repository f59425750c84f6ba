// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/probe.h"

#include <boost/algorithm/string/trim.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "cli/process/folder.h"
#include "cli/process/process.h"

namespace ringcheck::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uintmax_t kMostOutput = 4 << 20;

// Waits until the process has ended; false after `seconds` or too much output.
bool ended(Process& process, double seconds, const std::string& output) {
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  std::error_code none;
  while (!process.poll()) {
    if (Clock::now() > until || std::filesystem::file_size(output, none) > kMostOutput)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

std::string beginning_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(kMostOutput, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  return text;
}

}  // namespace

Answer ask(const std::vector<std::string>& words, double seconds) {
  const TemporaryFolder folder;
  const std::string output = folder.file("output");
  Answer answer;
  std::unique_ptr<Process> process;
  try {
    process = std::make_unique<Process>(Command{words, {}, output});
  } catch (const std::runtime_error& error) {
    answer.failure = error.what();
    return answer;
  }
  answer.stopped = !ended(*process, seconds, output);
  answer.text = beginning_of(output);
  if (answer.stopped) {
    answer.failure = answer.text.size() >= kMostOutput
                         ? "output without end"
                         : "no answer within " + short_number(seconds) + " s";
  } else if (process->poll()->signal != 0 || process->poll()->code != 0) {
    answer.failure = process->poll()->text();
  }
  return answer;
}

std::string excerpt(const std::string& text) {
  constexpr size_t kLongest = 100;
  for (const std::string& line : lines_of(text)) {
    std::string clean;
    for (const char c : line)
      clean += c >= ' ' && c <= '~' ? c : ' ';
    boost::algorithm::trim(clean);
    if (clean.size() > kLongest) {
      clean.resize(kLongest);
      clean.append("...");
    }
    if (!clean.empty())
      return clean;
  }
  return "nothing";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  const std::string number = text;
  return number.ends_with(".0") ? number.substr(0, number.size() - 2) : number;
}

std::string gibibytes(double bytes) { return short_number(std::ldexp(bytes, -30)) + " GiB"; }

}  // namespace ringcheck::cli
