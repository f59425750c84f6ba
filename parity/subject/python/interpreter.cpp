// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/python/interpreter.h"

#include <c10/util/StringUtil.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

extern char** environ;

namespace ringcheck::parity {
namespace {

// One thread a rank, where the user says no other number: a pool of them would not survive a fork, and a rank that is
// no copy of its interpreter loads everything again. What the supervisor says of its worker is no user's.
constexpr const char *kThreads = "OMP_NUM_THREADS", *kNoUsers = "RINGCHECK_SHARE_OF_CORES";
constexpr int kSocket = 3;  // of the child: what interpreter.py knows it by

std::string interpreter() {
  const char* said = std::getenv("RINGCHECK_PYTHON");
  return said != nullptr && *said != 0 ? said : "python3";
}

// Without our LibTorch's folder, where the script that started this program set it: Python has its own.
std::vector<std::string> own_variables() {
  const std::string paths = "LD_LIBRARY_PATH=", before = "RINGCHECK_LIBRARY_PATH=";
  std::vector<std::string> variables;
  std::optional<std::string> was;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
    if (variables.back().starts_with(before)) was = variables.back().substr(before.size());
  }
  if (std::getenv(kThreads) == nullptr || std::getenv(kNoUsers) != nullptr) {
    const std::string threads = c10::str(kThreads, "="), no_users = c10::str(kNoUsers, "=");
    std::erase_if(variables, [&](const std::string& one) { return one.starts_with(threads) || one.starts_with(no_users); });
    variables.push_back(threads + "1");
  }
  if (!was) return variables;
  std::erase_if(variables, [&](const std::string& one) { return one.starts_with(paths); });
  if (!was->empty()) variables.push_back(paths + *was);
  return variables;
}

// Its output goes where errors go: standard output is the program's own.
pid_t started(const std::string& program, std::vector<std::string> words,
              int socket) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, 2, 1);
  posix_spawn_file_actions_adddup2(&files, socket, kSocket);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<std::string> variables = own_variables();
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, program.c_str(), &files, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    throw PythonFailed("cannot run " + program + ": " + std::strerror(error) +
                       "; RINGCHECK_PYTHON names the Python that has your packages");
  return pid;
}

std::string ended(int status) {
  if (WIFSIGNALED(status))
    return "was ended by signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ")";
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Interpreter::Interpreter(const std::string& function) {
  pid_ = started(interpreter(), {interpreter(), "-m", "ringcheck.interpreter", function}, socket_.other_end());
  socket_.close_other_end();
  try {
    hello_ = socket_.receive(loading(0));
  } catch (const Closed&) {
    gone();
  } catch (...) {
    end();
    throw;
  }
}

Interpreter::~Interpreter() { end(); }

std::optional<int> Interpreter::end() {
  const pid_t pid = pid_.exchange(-1);
  if (pid < 0) return std::nullopt;
  int status = 0;
  ::kill(pid, SIGKILL);  // where it has only closed its socket; how it ended otherwise is decided
  ::waitpid(pid, &status, 0);
  return status;
}

void Interpreter::gone() {
  const auto status = end();
  if (!status) throw PythonFailed("its interpreter is gone");
  throw PythonFailed("its interpreter " + ended(*status) +
                     (hello_.is_null() ? "; can it import ringcheck? pip install ./python, from a checkout, puts it there "
                                         "(RINGCHECK_PYTHON names another Python)"
                                       : ""));
}

nlohmann::json Interpreter::ask(const nlohmann::json& question, double seconds, const std::vector<int>& descriptors) {
  const std::lock_guard lock(mutex_);
  try {
    socket_.send(question, descriptors);
    return socket_.receive(within_seconds(seconds));
  } catch (const Closed&) {
    gone();
  } catch (const Silent&) {  // its answer, when it comes, must not be taken for that to another question
    end();
    throw;
  }
}

}  // namespace ringcheck::parity
