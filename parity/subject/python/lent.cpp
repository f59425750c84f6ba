// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/python/lent.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>

#include "parity/subject/foreign/command.h"

namespace ringcheck::parity {
namespace {

constexpr std::chrono::milliseconds kToWrite{200};  // the stacks
constexpr size_t kLongest = 1 << 15;                // bytes: a pipe takes them in one piece

std::unique_ptr<LentPython> of_process;

}  // namespace

nlohmann::json LentPython::ask(const nlohmann::json& question) const {
  const char* said = answer_(question.dump().c_str());
  if (said == nullptr) throw PythonFailed("it has no answer to " + question.at("do").get<std::string>());
  nlohmann::json answer = nlohmann::json::parse(said);
  if (answer.contains("error")) throw PythonFailed(answer["error"].get<std::string>());
  return answer;
}

LentPython* lent_python(const std::string& function) {
  return of_process && of_process->function() == function ? of_process.get() : nullptr;
}

// SIGUSR2 asks for them: Python's faulthandler answers, word by word.
void show_lent_stack() {
  if (!of_process) return;
  ::kill(::getpid(), SIGUSR2);
  std::this_thread::sleep_for(kToWrite);
  std::string text(kLongest, ' ');
  const ssize_t size = ::pread(of_process->stacks(), text.data(), text.size(), 0);
  if (size > 0 && ::write(STDERR_FILENO, text.data(), static_cast<size_t>(size)) < 0) return;  // nobody reads it
}

}  // namespace ringcheck::parity

int32_t ringcheck::parity::ringcheck_verify_python(int32_t count, const char* const* options, const char* function,
                                                   LentPython::Answer answer, int32_t stacks) {
  of_process = std::make_unique<LentPython>(function, answer, stacks);
  const int32_t code = verified_by_all({count, options}, std::string("python[") + function + "]");
  of_process.reset();
  return code;
}
