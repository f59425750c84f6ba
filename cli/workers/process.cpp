// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace ringcheck::cli {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kGrace{2000};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words)
    result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> merged(const std::map<std::string, std::string>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry)
    result.emplace_back(*entry);
  for (const auto& [name, value] : added)
    if (std::getenv(name.c_str()) == nullptr)
      result.push_back(name + "=" + value);
  return result;
}

// Between fork and exec: system calls only.
[[noreturn]] void become(char* const* words, char* const* environment, int output, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP})
    ::signal(signal, SIG_DFL);
  const int input = ::open("/dev/null", O_RDONLY);
  ::dup2(input, 0);
  ::dup2(output, 1);
  ::dup2(output, 2);
  ::execve(words[0], words, environment);
  ::_exit(127);
}

}  // namespace

std::string Ended::text() const {
  if (signal == 0)
    return "exit code " + std::to_string(code);
  return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

Process::Process(const Command& command) {
  std::vector<std::string> words = command.words, variables = merged(command.environment);
  const std::vector<char*> argv = pointers(words), environment = pointers(variables);
  const int output =
      ::open(command.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const pid_t parent = ::getpid();
  if (output >= 0)
    pid_ = ::fork();
  if (pid_ == 0)
    become(argv.data(), environment.data(), output, parent);
  const int error = errno;
  if (output >= 0)
    ::close(output);
  if (pid_ < 0)
    throw std::runtime_error("cannot start '" + words[0] + "': " + std::strerror(error));
  ::setpgid(pid_, pid_);
}

Process::~Process() {
  if (ended_)
    return;
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

const std::optional<Ended>& Process::poll() {
  int status = 0;
  if (!ended_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    if (WIFSIGNALED(status))
      ended_ = Ended{0, WTERMSIG(status)};
    else
      ended_ = Ended{WEXITSTATUS(status), 0};
  }
  return ended_;
}

void Process::end() {
  ::kill(pid_, SIGTERM);
  ::kill(pid_, SIGCONT);
  const auto until = std::chrono::steady_clock::now() + kGrace;
  while (!poll() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(milliseconds(10));
  ::kill(-pid_, SIGKILL);
  while (!poll())
    std::this_thread::sleep_for(milliseconds(5));
}

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
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
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
