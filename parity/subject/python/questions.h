// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "parity/subject/python/json_socket.h"
#include "parity/subject/python/shared_memory.h"
#include "parity/subject/python/tensors.h"
#include "parity/subject/subject.h"

namespace ringcheck::parity {

// A case as Python sees it: its parts by name, as text, and what follows from them.
nlohmann::json case_for_python(const Case& test);

// What a function says of a case, as `ringcheck.subject` declares it.
struct Description {
  std::optional<std::string> refusal;
  Promise promise;
  int most_ranks = 0;  // 0: any number
  Case fitted;         // the nearest case that it takes
};
// Puts a question to whoever has the function. Throws PythonFailed.
using Ask = std::function<nlohmann::json(const nlohmann::json&)>;
// Throws BadCase where the function says what cannot be.
Description describe(const Ask& ask, const Case& test);

// What a function said of cases: each is asked about once, before it runs, and ranks that run it ask
// this.
class Descriptions {
 public:
  Description of(const Case& test, const std::function<Description()>& ask);

 private:
  std::mutex mutex_;
  std::map<std::string, Description> known_;
};

// The tensors of ranks, and where their slots are, for the memory of a process: a list a rank.
nlohmann::json inputs_for_python(const std::vector<RankInput>& inputs, SharedMemory& memory);

// The same of one rank for Python in this process, where they are, as long as this lives.
class InputsInPlace {
 public:
  explicit InputsInPlace(const RankInput& input);
  nlohmann::json list() const;

 private:
  NamedTensors tensors_;  // in host memory
};

// What a process returned for a rank.
RankOutput output_from_python(const nlohmann::json& list, SharedMemory& memory, at::Device device);
// What Python in this process returned.
RankOutput output_in_place(const nlohmann::json& list, at::Device device);

// The most that a process says it held at a time, 0 where it does not.
int64_t peak_from_python(const nlohmann::json& answer);

// Books what a process says it sent and received by torch.distributed.
void book_messages(const nlohmann::json& messages);

}  // namespace ringcheck::parity
