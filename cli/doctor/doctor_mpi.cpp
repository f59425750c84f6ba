// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor_mpi.h"

#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "cli/doctor/probe.h"
#include "cli/process/programs.h"
#include "cp/worlds/launcher.h"
#include "cp/worlds/mpi_library.h"

namespace ringcheck::cli {
namespace {

bool is_set(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && std::string(text) == "1";
}

// The word that begins at `from`.
std::string word_at(const std::string& text, size_t from) {
  from = text.find_first_not_of(" \t", from);
  return from == std::string::npos ? ""
                                   : text.substr(from, text.find_first_of(" \t\r\n", from) - from);
}

// "Open MPI 4" of "Open MPI 4.1.4".
std::string family(const std::string& version) { return version.substr(0, version.find('.')); }

Finding judge_version(const std::string& found, const std::string& built) {
  if (found == built)
    return {"mpi.version", Severity::kOk, "mpirun", found + ", as built with", ""};
  const std::string text = found + ", but ringcheck is built with " + built;
  if (family(found) == family(built))
    return {"mpi.version", Severity::kNote, "mpirun", text + ": goes together as a rule", ""};
  return {"mpi.version", Severity::kError, "mpirun",
          text + ": every rank would think that it is alone",
          "put the bin folder of " + built + " first in PATH"};
}

void examine_launcher(Examined& seen) try {
  const auto launcher = detect_launcher();
  if (launcher)
    seen.facts["launcher"] = describe(*launcher);
  seen.add({"mpi.launcher", launcher ? Severity::kNote : Severity::kOk, "launcher",
            launcher ? describe(*launcher) : "none: ringcheck starts its own ranks", ""});
} catch (const BadLaunch& error) {
  const std::string text = error.what();
  const size_t fix = text.find("; ");
  seen.add({"mpi.launcher", Severity::kError, "launcher", text.substr(0, fix), text.substr(fix + 2)});
}

// What only concerns an mpirun that the user types: the supervisor of verify sets all of it.
void examine_own_launch(Examined& seen) {
  const bool root = ::geteuid() == 0;
  if (root && !(is_set("OMPI_ALLOW_RUN_AS_ROOT") && is_set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")))
    seen.add(
        {"mpi.root", Severity::kNote, "root",
         "your own mpirun refuses to run as root; the one that ringcheck verify starts does not",
         "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
  if (is_set("OMPI_MCA_rmaps_base_oversubscribe"))
    return;
  const unsigned cores = std::thread::hardware_concurrency();
  seen.add({"mpi.slots", Severity::kNote, "slots",
            "your own mpirun refuses more ranks than cores (" + std::to_string(cores) +
                "); the one that ringcheck verify starts does not",
            "mpirun --oversubscribe, or export OMPI_MCA_rmaps_base_oversubscribe=1"});
}

}  // namespace

std::string parse_mpirun(const std::string& text) {
  const size_t open = text.find("(Open MPI)"), prrte = text.find("(PRRTE)");
  if (open != std::string::npos)
    return "Open MPI " + word_at(text, open + 10);
  if (prrte != std::string::npos)
    return "PRRTE " + word_at(text, prrte + 7);
  const size_t version = text.find("Version:");
  if (text.find("HYDRA") != std::string::npos && version != std::string::npos)
    return "MPICH " + word_at(text, version + 8);
  return excerpt(text);
}

Examined examine_mpi(double seconds, const std::string& built) {
  Examined seen;
  examine_launcher(seen);
  if (const auto& why = why_no_mpi()) {
    seen.add({"mpi.library", Severity::kWarning, "MPI", *why, "apt-get install openmpi-bin"});
    return seen;
  }
  const auto mpirun = find_program("mpirun");
  if (!mpirun) {
    seen.add({"mpi.mpirun", Severity::kWarning, "mpirun", "not in PATH: MPI cases are skipped",
              "apt-get install openmpi-bin, or add the bin folder of " + built + " to PATH"});
    return seen;
  }
  const Answer answer = ask({*mpirun, "--version"}, seconds);
  seen.facts["mpirun"] = {{"path", *mpirun}, {"version", parse_mpirun(answer.text)}};
  if (!answer.failure.empty()) {
    seen.add({"mpi.mpirun", Severity::kError, "mpirun",
              answer.failure + ", says: " + excerpt(answer.text) + ": MPI cases cannot run",
              "run " + *mpirun + " --version by hand; reinstall " + built + " if it fails there"});
    return seen;
  }
  seen.add(judge_version(parse_mpirun(answer.text), built));
  if (built.starts_with("Open MPI"))
    examine_own_launch(seen);
  return seen;
}

}  // namespace ringcheck::cli
