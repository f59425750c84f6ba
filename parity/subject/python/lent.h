// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "parity/subject/python/questions.h"

namespace ringcheck::parity {

// A function in Python that this process has, and lends while its ranks are judged: questions and answers are those of
// an interpreter and of a rank's process (ringcheck/in_process.py), tensors are where they are.
class LentPython {
 public:
  using Answer = const char* (*)(const char* question);  // the text stays until the next one
  LentPython(std::string function, Answer answer, int stacks)
      : function_(std::move(function)), answer_(answer), stacks_(stacks) {}

  const std::string& function() const { return function_; }  // FILE:NAME
  int stacks() const { return stacks_; }
  // Throws PythonFailed where the answer is {"error": why}.
  nlohmann::json ask(const nlohmann::json& question) const;
  Descriptions descriptions;

 private:
  std::string function_;
  Answer answer_;
  int stacks_;  // a file, where Python writes them on SIGUSR2
};

// The function of that name, where this process lends it; or nullptr.
LentPython* lent_python(const std::string& function);

// Between the Python package and the library of one version, and no part of ringcheck.h: as ringcheck_verify, of the
// subject python[FUNCTION] that `answer` answers for. Python writes its stacks to the file `stacks` on SIGUSR2.
extern "C" int32_t ringcheck_verify_python(int32_t count, const char* const* options, const char* function,
                                           LentPython::Answer answer, int32_t stacks);

// Has this process, where it lends a function, write its Python stacks to standard error, at once: that of another rank
// may do so, too.
void show_lent_stack();

}  // namespace ringcheck::parity
