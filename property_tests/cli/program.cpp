// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/cli/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace ringcheck::testing {
namespace {

namespace fs = std::filesystem;

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words)
    result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> merged(const std::map<std::string, std::string>& set) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (set.count(text.substr(0, text.find('='))) == 0)
      result.push_back(text);
  }
  for (const auto& [name, value] : set)
    result.push_back(name + "=" + value);
  return result;
}

// Words that end with a zero byte, as lines.
std::string lines_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::replace(text.begin(), text.end(), '\0', '\n');
  return text;
}

}  // namespace

Folder::Folder() {
  const char* place = std::getenv("TMPDIR");
  path_.append(place == nullptr ? "/tmp" : place).append("/ringcheck_test.XXXXXX");
  if (::mkdtemp(path_.data()) == nullptr)
    throw std::runtime_error("no temporary folder");
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string read_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

Running::Running(std::vector<std::string> words,
                 const std::map<std::string, std::string>& environment) {
  auto set = environment;
  set["TMPDIR"] = folder_.path();
  std::vector<std::string> variables = merged(set);
  const auto argv = pointers(words), envp = pointers(variables);
  const std::string out = folder_.file("out"), err = folder_.file("err");
  pid_ = ::fork();
  if (pid_ < 0)
    throw std::runtime_error("fork failed");
  if (pid_ > 0)
    return;
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT, 0600), 1);
  ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0600), 2);
  ::execve(argv[0], argv.data(), envp.data());
  ::_exit(127);
}

Running::~Running() {
  if (pid_ <= 0)
    return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Running::signal(int number) const { ::kill(pid_, number); }

Ran Running::wait() {
  int status = 0;
  const bool ended = wait_until(240, [&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; });
  if (ended)
    pid_ = -1;
  else
    ADD_FAILURE() << "the program did not end";
  Ran ran;
  ran.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  ran.out = read_text(folder_.file("out"));
  ran.err = read_text(folder_.file("err"));
  return ran;
}

std::vector<Running::Found> Running::workers() const {
  std::vector<Found> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos)
      continue;
    const std::string command = lines_of(entry.path() / "cmdline");
    if (command.find(folder_.path()) != std::string::npos)
      found.push_back({std::stoi(name), command, lines_of(entry.path() / "environ")});
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

std::string ringcheck_program() { return RINGCHECK_PROGRAM_DIR "/ringcheck"; }

Ran ringcheck(const std::vector<std::string>& words,
              const std::map<std::string, std::string>& environment) {
  std::vector<std::string> all{ringcheck_program()};
  all.insert(all.end(), words.begin(), words.end());
  return Running(std::move(all), environment).wait();
}

}  // namespace ringcheck::testing
