// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "parity/subject/python/interpreter.h"
#include "parity/subject/python/shared_memory.h"

namespace ringcheck::parity {

// The process of a rank (ringcheck/rank.py): questions and answers, and memory for tensors each way.
class PythonProcess {
 public:
  PythonProcess(std::shared_ptr<Interpreter> starter, int rank);  // throws PythonFailed
  ~PythonProcess();
  PythonProcess(const PythonProcess&) = delete;
  PythonProcess& operator=(const PythonProcess&) = delete;

  // What it answers. Throws PythonFailed where it ends instead, or answers {"error": why}.
  nlohmann::json ask(const nlohmann::json& question, const Tick& tick = {});

  pid_t pid() const { return pid_; }
  SharedMemory& there() { return there_; }  // what it is given
  SharedMemory& back() { return back_; }    // what it gives

 private:
  nlohmann::json answer(const Tick& tick);
  [[noreturn]] void gone();

  std::shared_ptr<Interpreter> starter_;
  SharedMemory there_, back_;
  JsonSocket socket_;
  pid_t pid_;
};

}  // namespace ringcheck::parity
