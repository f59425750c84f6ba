// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/plugin/library.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "parity/case/case.h"

namespace ringcheck::parity {
namespace {

constexpr int kBadInput = 2;  // the exit code

using Entry = const ringcheck_subject* (*)();

[[noreturn]] void refuse(const std::string& library, const std::string& why) {
  throw BadCase("plug-in '" + library + "' " + why);
}

thread_local const std::string* running = nullptr;  // whose code, on this thread

void name_who_ended() {
  const std::string* library = running;
  if (library == nullptr) return;
  std::fprintf(stderr, "ringcheck: plug-in '%s' ended the process when it was asked what it is and takes; "
               "let it return\n", library->c_str());
  std::_Exit(kBadInput);
}

Entry entry_of(const std::string& library) {
  std::error_code none;
  const auto kind = std::filesystem::status(library, none);
  const bool here = std::filesystem::is_regular_file(kind);
  if (std::filesystem::exists(kind) && !here)
    refuse(library, "is no file; want the path of a shared library");
  const std::string path = here ? std::filesystem::absolute(library).string() : library;
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    refuse(library, std::string("cannot be loaded: ") + ::dlerror() +
                        "; want the path of a shared library");
  void* entry = ::dlsym(handle, "ringcheck_plugin");
  if (entry == nullptr)
    refuse(library, "does not define ringcheck_plugin; want a library written against ringcheck.h");
  return reinterpret_cast<Entry>(entry);
}

void check(const std::string& library, const ringcheck_subject* subject) {
  if (subject == nullptr) refuse(library, "has no subject: ringcheck_plugin returned NULL");
  if (subject->abi != RINGCHECK_ABI)
    refuse(library, "is of version " + std::to_string(subject->abi) +
                        " of the interface, and this program is of " +
                        std::to_string(RINGCHECK_ABI) + "; build it against this ringcheck.h");
  if (subject->size < sizeof(ringcheck_subject))
    refuse(library, "says that its subject has " + std::to_string(subject->size) +
                        " bytes; want sizeof(ringcheck_subject), " +
                        std::to_string(sizeof(ringcheck_subject)));
  if (subject->run == nullptr) refuse(library, "has no function `run`");
}

const ringcheck_subject* of_program = nullptr;

const ringcheck_subject* program() {
  if (of_program == nullptr)
    refuse(kProgram, "is the subject of a program that calls ringcheck_verify: run that one, with the words that follow "
                     "`ringcheck verify` here");
  return of_program;
}

}  // namespace

Asked::Asked(const std::string& library) {
  [[maybe_unused]] static const int registered = std::atexit(name_who_ended);
  running = &library;
}
Asked::~Asked() { running = nullptr; }

void lend_program(const ringcheck_subject* subject) { of_program = subject; }

const ringcheck_subject& plugin_of(const std::string& library) {
  const Asked asked(library);
  const ringcheck_subject* subject = library == kProgram ? program() : entry_of(library)();
  check(library, subject);
  return *subject;
}

}  // namespace ringcheck::parity
