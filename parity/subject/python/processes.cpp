// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/python/processes.h"

#include <map>
#include <utility>

namespace ringcheck::parity {

PythonProcesses::PythonProcesses(std::string function)
    : function_(std::move(function)), keeper_([this] { keep(); }) {}

PythonProcesses::~PythonProcesses() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  keeper_.join();
}

void PythonProcesses::keep() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return over_ || wanted_; });
    if (over_) break;
    try {
      interpreter_ = std::make_shared<Interpreter>(function_);
    } catch (...) {
      failure_ = std::current_exception();
    }
    wanted_ = false;
    changed_.notify_all();
  }
  ranks_.clear();
  interpreter_.reset();
}

std::shared_ptr<Interpreter> PythonProcesses::interpreter() {
  std::unique_lock lock(mutex_);
  if (interpreter_ && interpreter_->lives()) return interpreter_;
  ranks_.clear();
  meetings_.forget();
  failure_ = nullptr;
  wanted_ = true;
  changed_.notify_all();
  changed_.wait(lock, [&] { return !wanted_; });
  if (failure_) std::rethrow_exception(failure_);
  return interpreter_;
}

std::shared_ptr<PythonProcess> PythonProcesses::of(int rank) {
  const auto starter = interpreter();
  const std::lock_guard lock(mutex_);
  auto& process = ranks_[rank];
  if (!process) process = std::make_shared<PythonProcess>(starter, rank);
  return process;
}

void PythonProcesses::end() {
  const std::lock_guard lock(mutex_);
  ++ends_;
  ranks_.clear();
  meetings_.forget();
}

PythonFunction& python_function(const std::string& function) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<PythonFunction>> all;
  const std::lock_guard lock(mutex);
  auto& made = all[function];
  if (!made) made = std::make_unique<PythonFunction>(function);
  return *made;
}

}  // namespace ringcheck::parity
