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

// SIGUSR2 asks for them: Python's faulthandler answers.
void show_lent_stack() {
  if (!of_process) return;
  ::kill(::getpid(), SIGUSR2);
  std::this_thread::sleep_for(kToWrite);
}

}  // namespace ringcheck::parity

int32_t ringcheck::parity::ringcheck_verify_python(int32_t count, const char* const* options, const char* function,
                                                   LentPython::Answer answer) {
  of_process = std::make_unique<LentPython>(function, answer);
  const int32_t code = verified_by_all({count, options}, std::string("python[") + function + "]");
  of_process.reset();
  return code;
}
