// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/foreign/command.h"

#include <dlfcn.h>

#include <iostream>
#include <vector>

#include "cp/worlds/launcher.h"

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

bool says(const std::string& word, const std::string& option) {
  return word == option || word.starts_with(option + "=");
}

// Who answers is known: it is said where the words do not, themselves or in a case.
std::vector<std::string> words_of(const Words& said, const std::string& subject) {
  std::vector<std::string> words{"ringcheck", "verify"};
  bool said_who = false;
  for (int32_t i = 0; i < said.count; ++i) {
    words.emplace_back(said.options[i]);
    said_who = said_who || says(words.back(), "--case") || says(words.back(), "--subject");
  }
  if (!said_who) words.insert(words.end(), {"--subject", subject});
  return words;
}

int verified(const Words& said, const std::string& subject) {
  if (!detect_launcher())
    throw BadLaunch("ringcheck_verify judges ranks that were started, and nobody started this program as one; start it by "
                    "mpirun, srun or torchrun");
  const std::vector<std::string> words = words_of(said, subject);
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  return command()(static_cast<int>(pointers.size()), pointers.data());
}

}  // namespace

int32_t verified_by_all(const Words& words, const std::string& subject) {
  try {
    return verified(words, subject);
  } catch (const BadLaunch& error) {
    std::cerr << "ringcheck: " << error.what() << std::endl;
    return kUsage;
  } catch (const std::exception& error) {
    std::cerr << "ringcheck: internal error: " << error.what() << std::endl;
    return kInternal;
  }
}

}  // namespace ringcheck::parity
