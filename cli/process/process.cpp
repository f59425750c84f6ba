// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Boost.Process starts a child: words, environment, files, fork and exec. It knows no signal of
// the parent's death, its groups are not killed with a grace period, and its waits with a deadline
// fork a process for the clock; these stand here.
#include "cli/process/process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/error.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/io.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace ringcheck::cli {
namespace {

namespace bp = boost::process;

constexpr double kGrace = 2;  // seconds

struct Close {
  void operator()(FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<FILE, Close>;

// Closed in the program that the child becomes: 'e'.
File opened(const std::string& path, const char* mode) {
  File file(std::fopen(path.c_str(), mode));
  if (!file) throw std::system_error(errno, std::generic_category());
  return file;
}

// In the child between fork and exec: system calls only.
void settle(pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP})
    ::signal(signal, SIG_DFL);
}

// Boost waits for exec through a pipe, without a deadline, unless errors are to be ignored: a
// program that cannot be run is an exit code then.
pid_t spawn(const Command& command) {
  bp::environment variables = boost::this_process::environment();
  for (const auto& [name, value] : command.environment)
    variables.set(name, value);  // [] compares beyond the end of shorter variables
  const File input = opened("/dev/null", "re"), output = opened(command.output, "ae"),
             errors = opened(command.errors.empty() ? command.output : command.errors, "ae");
  bp::child child(
      bp::exe = command.words.at(0),
      bp::args = std::vector<std::string>(command.words.begin() + 1, command.words.end()),
      variables, bp::std_in < input.get(), bp::std_out > output.get(), bp::std_err > errors.get(),
      bp::extend::on_exec_setup = [parent = ::getpid()](auto&) { settle(parent); },
      bp::extend::on_exec_error = [](auto&, const std::error_code&) { ::_exit(127); },
      bp::ignore_error);
  if (!child.valid()) throw std::system_error(errno, std::generic_category());
  child.detach();
  return child.id();
}

}  // namespace

std::string Ended::text() const {
  if (signal == 0)
    return "exit code " + std::to_string(code);
  return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

Process::Process(const Command& command) {
  try {
    pid_ = spawn(command);
  } catch (const std::system_error& error) {
    throw std::runtime_error("cannot start '" + command.words.at(0) +
                             "': " + error.code().message());
  }
  ::setpgid(pid_, pid_);
}

Process::~Process() {
  if (ended_)
    return;
  ::kill(-pid_, SIGKILL);
  wait(kGrace);
}

const std::optional<Ended>& Process::poll() {
  siginfo_t seen{};
  if (ended_ || ::waitid(P_PID, pid_, &seen, WEXITED | WNOHANG | WNOWAIT) != 0 || seen.si_pid != pid_)
    return ended_;
  ::kill(-pid_, SIGKILL);  // what it has left behind: until it is waited for, the group is nobody else's
  int status = 0;
  ::waitpid(pid_, &status, 0);
  ended_ = WIFSIGNALED(status) ? Ended{0, WTERMSIG(status)} : Ended{WEXITSTATUS(status), 0};
  return ended_;
}

bool Process::wait(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (!poll() && Clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return ended_.has_value();
}

void Process::end() {
  ::kill(pid_, SIGTERM);
  ::kill(pid_, SIGCONT);
  wait(kGrace);
  ::kill(-pid_, SIGKILL);
  wait(kGrace);
}

}  // namespace ringcheck::cli
