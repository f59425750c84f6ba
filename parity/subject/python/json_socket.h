// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace ringcheck::parity {

// A Python process did not do what it was asked for; says why.
class PythonFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The other end is at work for longer than it may.
class Silent : public PythonFailed {
 public:
  using PythonFailed::PythonFailed;
};

// The other end has gone.
class Closed : public PythonFailed {
 public:
  using PythonFailed::PythonFailed;
};

// The process of a rank has ended.
class PythonEnded : public PythonFailed {
 public:
  using PythonFailed::PythonFailed;
};

// Called every few milliseconds of a wait; throws to end it.
using Tick = std::function<void()>;
// One that throws PythonFailed after so many seconds.
Tick within_seconds(double seconds);

// While Python loads what a function needs on a rank, which can take minutes, this is called, so that
// whoever waits for this program sees that it lives. Once, before anything is loaded.
void while_loading(std::function<void(int rank)> sign_of_life);
Tick loading(int rank);  // one that does so, and throws PythonFailed after the time that loading may take

// One end of a pair of sockets that carries a line of JSON each way.
class JsonSocket {
 public:
  JsonSocket();  // throws std::system_error
  ~JsonSocket();
  JsonSocket(const JsonSocket&) = delete;
  JsonSocket& operator=(const JsonSocket&) = delete;

  int other_end() const { return other_; }
  void close_other_end();  // once the process that has it is there

  // Descriptors go with the line. Throws Closed.
  void send(const nlohmann::json& line, const std::vector<int>& descriptors = {});
  // Throws Closed, PythonFailed where it is no JSON object or is {"error": why}, and what `tick` throws.
  nlohmann::json receive(const Tick& tick = {});

 private:
  int own_, other_;
  std::string received_;
};

}  // namespace ringcheck::parity
