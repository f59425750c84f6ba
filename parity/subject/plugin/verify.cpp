// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// ringcheck_verify of abi/ringcheck.h: the command, on ranks that somebody else has started.
#include <dlfcn.h>

#include <iostream>
#include <vector>

#include "cp/worlds/launcher.h"
#include "parity/subject/plugin/library.h"

namespace ringcheck::parity {
namespace {

constexpr int kUsage = 2, kInternal = 70;  // exit codes of docs/cli.md

using Command = int (*)(int count, const char* const* words);

// Beside this library; it is large, and few programs need it.
Command command() {
  void* handle = ::dlopen("libringcheck_command.so", RTLD_NOW | RTLD_LOCAL);
  void* found = handle != nullptr ? ::dlsym(handle, "ringcheck_command") : nullptr;
  if (found == nullptr)
    throw BadLaunch(std::string("ringcheck_verify cannot judge: ") + ::dlerror() +
                    "; install libringcheck_command.so beside libringcheck.so");
  return reinterpret_cast<Command>(found);
}

bool says_case(const std::string& word) { return word == "--case" || word.starts_with("--case="); }

// Who answers is known: the words say it only where a case does not.
std::vector<std::string> words_of(int32_t count, const char* const* options) {
  const std::string subject = std::string("plugin[") + kProgram + "]";
  std::vector<std::string> words{"ringcheck", "verify"};
  bool cases = false;
  for (int32_t i = 0; i < count; ++i) {
    words.emplace_back(options[i]);
    cases = cases || says_case(words.back());
  }
  if (!cases) words.insert(words.end(), {"--subject", subject});
  return words;
}

int verified(int32_t count, const char* const* options, const ringcheck_subject* subject) {
  if (!detect_launcher())
    throw BadLaunch("ringcheck_verify judges ranks that were started, and nobody started this program as one; start it by "
                    "mpirun, srun or torchrun");
  lend_program(subject);
  const std::vector<std::string> words = words_of(count, options);
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  const int code = command()(static_cast<int>(pointers.size()), pointers.data());
  lend_program(nullptr);
  return code;
}

}  // namespace
}  // namespace ringcheck::parity

int32_t ringcheck_verify(int32_t count, const char* const* options, const ringcheck_subject* subject) {
  try {
    return ringcheck::parity::verified(count, options, subject);
  } catch (const ringcheck::BadLaunch& error) {
    std::cerr << "ringcheck: " << error.what() << std::endl;
    return ringcheck::parity::kUsage;
  } catch (const std::exception& error) {
    std::cerr << "ringcheck: internal error: " << error.what() << std::endl;
    return ringcheck::parity::kInternal;
  }
}
