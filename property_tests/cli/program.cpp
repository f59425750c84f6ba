// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/cli/program.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace ringcheck::testing {
namespace {

namespace fs = std::filesystem;

// Words that end with a zero byte, as lines.
std::string lines_of(const fs::path& file) {
  const std::ifstream stream(file, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();  // what may end in between; an iterator would throw
  std::string text = content.str();
  std::replace(text.begin(), text.end(), '\0', '\n');
  return text;
}

std::map<std::string, std::string> with_place(std::map<std::string, std::string> environment,
                                              const std::string& folder) {
  environment["TMPDIR"] = folder;
  return environment;
}

}  // namespace

std::string read_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

Running::Running(std::vector<std::string> words, std::map<std::string, std::string> environment)
    : process_({std::move(words), with_place(std::move(environment), folder_.path()),
                folder_.file("out"), folder_.file("err")}) {}

void Running::signal(int number) const { ::kill(pid(), number); }

Ran Running::wait() {
  Ran ran;
  if (process_.wait(240))
    ran.code = process_.poll()->signal != 0 ? 128 + process_.poll()->signal : process_.poll()->code;
  else
    ADD_FAILURE() << "the program did not end";
  ran.out = read_text(folder_.file("out"));
  ran.err = read_text(folder_.file("err"));
  return ran;
}

std::vector<Found> processes_with(const std::string& text) {
  std::vector<Found> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos)
      continue;
    const std::string command = lines_of(entry.path() / "cmdline");
    if (command.find(text) != std::string::npos)
      found.push_back({std::stoi(name), lines_of(entry.path() / "comm"), command,
                       lines_of(entry.path() / "environ")});
  }
  return found;
}

bool wait_until(double seconds, const std::function<bool()>& what) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!what()) {
    if (std::chrono::steady_clock::now() > end)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

bool is_xml(const std::string& file) {
  Running parser({"/usr/bin/env", "python3", "-c",
                  "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])", file});
  return parser.wait().code == 0;
}

std::string ringcheck_program() { return RINGCHECK_PROGRAM_DIR "/ringcheck"; }

Ran ringcheck(const std::vector<std::string>& words,
              const std::map<std::string, std::string>& environment) {
  std::vector<std::string> all{ringcheck_program()};
  all.insert(all.end(), words.begin(), words.end());
  return Running(std::move(all), environment).wait();
}

}  // namespace ringcheck::testing
