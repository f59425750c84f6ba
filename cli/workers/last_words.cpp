// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/last_words.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string_view>

#include "cli/workers/said.h"
#include "cp/words.h"

namespace ringcheck::cli {
namespace {

constexpr std::string_view kBeginning = "ended by an exception that nobody catches: ";

std::string words_of_the_exception() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return words_of(error);
  } catch (...) {
    return "of an unknown kind";
  }
  return "none was thrown";
}

[[noreturn]] void say_and_abort() {
  static std::atomic_flag said;
  if (said.test_and_set())
    for (;;) ::pause();  // the thread that was first ends the process
  std::cerr << kBeginning << in_a_line(words_of_the_exception()) << std::endl;
  std::abort();
}

}  // namespace

void say_what_ends_this_process() { std::set_terminate(say_and_abort); }

std::string last_words(const std::string& output) {
  const size_t line = output.find(kBeginning);
  if (line == std::string::npos) return "";
  const size_t begin = line + kBeginning.size();
  return output.substr(begin, output.find('\n', begin) - begin);
}

}  // namespace ringcheck::cli
