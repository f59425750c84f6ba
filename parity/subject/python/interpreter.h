// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "parity/subject/python/json_socket.h"

namespace ringcheck::parity {

// A Python interpreter that has loaded a function of the user's (ringcheck/interpreter.py), says what
// it is, and starts the processes of its ranks. It ends with this, and with the thread that made it,
// and they with it.
class Interpreter {
 public:
  explicit Interpreter(const std::string& function);  // FILE:NAME; throws PythonFailed
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // One at a time. Throws PythonFailed where it ends instead, or cannot.
  nlohmann::json ask(const nlohmann::json& question, double seconds, const std::vector<int>& descriptors = {});
  // What it said of the function when it had loaded it.
  const nlohmann::json& hello() const { return hello_; }
  bool lives() const { return pid_ >= 0; }

 private:
  std::optional<int> end();  // how it ended; nothing where it had before
  [[noreturn]] void gone();

  std::mutex mutex_;
  JsonSocket socket_;
  std::atomic<pid_t> pid_ = -1;
  nlohmann::json hello_;
};

}  // namespace ringcheck::parity
