// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/python/process.h"

#include <signal.h>

#include <utility>

namespace ringcheck::parity {
namespace {

constexpr double kToStart = 120, kToEnd = 10;  // seconds

}  // namespace

PythonProcess::PythonProcess(std::shared_ptr<Interpreter> starter, int rank)
    : starter_(std::move(starter)),
      pid_(starter_->ask({{"do", "start"}, {"rank", rank}}, kToStart,
                       {socket_.other_end(), there_.descriptor(), back_.descriptor()}).at("pid")) {
  socket_.close_other_end();
  answer(loading(rank));  // that it is ready
}

PythonProcess::~PythonProcess() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);  // its interpreter waits for it
}

nlohmann::json PythonProcess::ask(const nlohmann::json& question, const Tick& tick) {
  try {
    socket_.send(question);
  } catch (const Closed&) {
    gone();
  }
  return answer(tick);
}

nlohmann::json PythonProcess::answer(const Tick& tick) {
  try {
    return socket_.receive(tick);
  } catch (const Closed&) {
    gone();
  }
}

void PythonProcess::gone() {
  const pid_t pid = std::exchange(pid_, -1);  // its number may be somebody else's from here on
  throw PythonEnded("its Python process " +
                     starter_->ask({{"do", "end"}, {"pid", pid}}, kToEnd).at("ended").get<std::string>());
}

}  // namespace ringcheck::parity
