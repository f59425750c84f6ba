// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "parity/subject/python/meetings.h"
#include "parity/subject/python/process.h"
#include "parity/subject/python/questions.h"

namespace ringcheck::parity {

// The Python processes of one function: the interpreter that loads it, and a process a rank, started
// when it asks first, kept from case to case, ended together where one failed.
class PythonProcesses {
 public:
  explicit PythonProcesses(std::string function);
  ~PythonProcesses();

  // Throws PythonFailed where it cannot load the function.
  std::shared_ptr<Interpreter> interpreter();
  std::shared_ptr<PythonProcess> of(int rank);
  // The ranks end, once whoever holds one has let go of it; `of` starts new ones.
  void end();
  Meetings& meetings() { return meetings_; }
  // How often they ended: who waits for one while it changes waits in vain.
  int ends() const { return ends_; }

 private:
  void keep();

  std::string function_;
  Meetings meetings_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Interpreter> interpreter_;
  std::map<int, std::shared_ptr<PythonProcess>> ranks_;
  bool wanted_ = false;         // an interpreter
  std::exception_ptr failure_;  // of starting it
  bool over_ = false;
  std::atomic<int> ends_ = 0;
  std::thread keeper_;  // starts it: it ends with the thread that did
};

// A function, as long as this program runs.
struct PythonFunction {
  explicit PythonFunction(const std::string& function) : processes(function) {}
  PythonProcesses processes;
  Descriptions descriptions;
};
PythonFunction& python_function(const std::string& function);

}  // namespace ringcheck::parity
