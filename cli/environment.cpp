// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/environment.h"

#include <sys/utsname.h>
#include <torch/version.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <thread>

#include "cp/worlds/mpi_library.h"
#include "version.h"

namespace ringcheck::cli {
namespace {

std::string compiler_text() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return "unknown CPU";
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace

std::string version_text() {
  return std::string("RingCheck ") + version() + "\ncommit    " + commit() + "\nLibTorch  " +
         TORCH_VERSION + "\nMPI       " + describe_mpi() + "\ncompiler  " + compiler_text();
}

reports::Environment environment() {
  reports::Environment facts;
  facts.version = version();
  facts.commit = commit();
  facts.libtorch = TORCH_VERSION;
  facts.mpi = describe_mpi();
  facts.compiler = compiler_text();
  utsname system{};
  if (::uname(&system) == 0) {
    facts.host = system.nodename;
    facts.system = std::string(system.sysname) + " " + system.release + " " + system.machine;
  }
  facts.cpu = cpu_model();
  facts.cores = static_cast<int>(std::thread::hardware_concurrency());
  facts.device = "cpu";
  facts.started = now_text();
  return facts;
}

}  // namespace ringcheck::cli
