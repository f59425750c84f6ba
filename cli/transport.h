// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cp/worlds/launcher.h"
#include "parity/case/case.h"
#include "reports/result.h"

namespace ringcheck::cli {

// What --transport is for.
std::string transport_help();

// Whether --transport, empty where it was not given, names one that there is and cases that have a use
// for it. Throws UsageError. What speaks against one on this machine is known once the ranks have met.
void check_transport(const std::string& transport, const std::vector<parity::Case>& cases);

// The same of a case as results have it.
bool has_use_for_transport(const std::map<std::string, std::string>& parts);
// Why the processes of a case cannot pass messages between GPUs here over a transport; nothing where they can, or have no use for it.
std::optional<std::string> lacks_gpus(const parity::Case& test, const std::string& transport);
// Whether any case can pass messages between the GPUs of processes here.
bool passes_between_gpus(const std::vector<parity::Case>& cases, const std::string& transport);

// The one to use where the option was given, or was not.
std::string transport_or_usual(const std::string& transport);

// "NCCL over MPI, a process and a GPU a rank": of ranks that a launcher started.
std::string transport_text(const std::string& transport, const Launcher& launcher,
                           const std::vector<parity::Case>& cases);
// What went over another one than usual says so: a case by its name, too.
void note_transport(const std::string& transport, std::map<std::string, std::string>& parts);
void note_transport(const std::string& transport, reports::CaseResult& test);
// "NCCL", "CUDA IPC"
std::string transport_name(const std::string& transport);

}  // namespace ringcheck::cli
