// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/python/interpreter.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/process/folder.h"

namespace ringcheck::parity {
namespace {

// Answers in the place of Python, after so many seconds.
class Answering {
 public:
  explicit Answering(const std::string& seconds) {
    const std::string script = folder_.file("python");
    std::ofstream(script) << "#!/usr/bin/env bash\n"
                             "echo '{\"of\": \"itself\"}' >&3\n"
                             "while read -r question <&3; do\n"
                             "  sleep " << seconds << "\n"
                             "  echo \"$question\" >&3\n"
                             "done\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    ::setenv("RINGCHECK_PYTHON", script.c_str(), 1);
  }
  ~Answering() { ::unsetenv("RINGCHECK_PYTHON"); }

 private:
  cli::TemporaryFolder folder_;
};

TEST(Interpreter, AnswersInOrder) {
  const Answering at_once("0");
  Interpreter interpreter("any");
  EXPECT_EQ(interpreter.hello().at("of"), "itself");
  for (const int question : {1, 2, 3})
    EXPECT_EQ(interpreter.ask({{"which", question}}, 60).at("which"), question);
}

// Its late answer would be taken for that to the next question.
TEST(Interpreter, OneThatIsTooLateIsEnded) {
  const Answering late("1");
  Interpreter interpreter("any");
  EXPECT_THROW(interpreter.ask({{"which", 1}}, 0.1), Silent);
  EXPECT_FALSE(interpreter.lives());
  ::sleep(1);
  EXPECT_THROW(interpreter.ask({{"which", 2}}, 60), PythonFailed);
}

}  // namespace
}  // namespace ringcheck::parity
