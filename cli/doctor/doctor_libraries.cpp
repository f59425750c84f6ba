// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor_libraries.h"

#include <dlfcn.h>

#include <charconv>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "cli/doctor/probe.h"
#include "cli/process/programs.h"

namespace ringcheck::cli {
namespace {

struct Asked {
  const char* library;
  std::vector<const char*> functions;
};
const std::vector<Asked> kAsked{{"libcudart.so.13", {"cudaRuntimeGetVersion"}},
                                {"libnccl.so.2", {"ncclGetVersion"}},
                                {"libcudnn.so.9", {"cudnnGetVersion", "cudnnGetCudartVersion"}},
                                {"libcuda.so.1", {"cuDriverGetVersion"}}};

// cuDNN's functions return their version, all others store it and return an error code.
int version_from(void* function, const std::string& name) {
  if (name.starts_with("cudnn"))
    return static_cast<int>(reinterpret_cast<size_t (*)()>(function)());
  int version = 0;
  const int error = reinterpret_cast<int (*)(int*)>(function)(&version);
  return error == 0 ? version : 0;
}

void print_library(const Asked& asked) {
  // Said before anything is run, so that a crash has a name.
  std::cout << asked.library << std::flush;
  void* library = ::dlopen(asked.library, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    std::cout << "\t\t!\t" << ::dlerror() << std::endl;
    return;
  }
  std::string path, versions;
  for (const char* name : asked.functions) {
    void* function = ::dlsym(library, name);
    Dl_info info{};
    if (function != nullptr && ::dladdr(function, &info) != 0)
      path = std::filesystem::weakly_canonical(info.dli_fname).string();
    const int version = function == nullptr ? 0 : version_from(function, name);
    versions += "\t" + std::string(name) + "\t" + std::to_string(version);
  }
  std::cout << "\t" << path << versions << std::endl;
}

nlohmann::json facts_of(const std::map<std::string, Library>& libraries) {
  nlohmann::json facts = nlohmann::json::object();
  for (const auto& [name, library] : libraries) {
    facts[name] = {{"path", library.path}, {"versions", library.versions}};
    if (!library.failure.empty())
      facts[name]["failure"] = library.failure;
  }
  return facts;
}

}  // namespace

std::map<std::string, Library> parse_libraries(const std::string& text) {
  std::map<std::string, Library> libraries;
  for (const std::string& line : lines_of(text)) {
    std::istringstream stream(line);
    std::string name, key, value;
    std::getline(stream, name, '\t');
    if (!name.starts_with("lib"))
      continue;
    Library library;
    std::getline(stream, library.path, '\t');
    while (std::getline(stream, key, '\t') && std::getline(stream, value, '\t')) {
      int version = 0;
      std::from_chars(value.data(), value.data() + value.size(), version);
      if (key == "!")
        library.failure = value;
      else
        library.versions[key] = version;
    }
    if (library.failure.empty() && library.versions.empty())
      library.failure = "nothing said";
    libraries[name] = library;
  }
  return libraries;
}

void print_libraries() {
  // LibTorch's own search path decides which of several copies a run uses.
  ::dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_LOCAL);
  for (const Asked& asked : kAsked)
    print_library(asked);
}

Examined examine_libraries(double seconds, bool gpus) {
  const Answer answer = ask({own_path(), "doctor", "--print-libraries"}, seconds);
  std::map<std::string, Library> libraries = parse_libraries(answer.text);
  for (const Asked& asked : kAsked) {
    Library& library = libraries[asked.library];
    const bool silent = library.versions.empty() && library.failure.empty();
    if (!answer.failure.empty() && (silent || library.failure == "nothing said"))
      library.failure =
          (silent ? "not reached: loading the ones before it, " : "loading it: ") + answer.failure;
  }
  Examined seen;
  seen.facts["libraries"] = facts_of(libraries);
  seen.findings = judge_libraries(libraries, gpus);
  return seen;
}

}  // namespace ringcheck::cli
