// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace ringcheck::cli {

// The path of a program of that name in PATH.
std::optional<std::string> find_program(const std::string& name);
std::string own_path();
// "R", "S", "T" (stopped), "Z" (dead); empty where there is no such process.
std::string process_state(pid_t pid);
// Does a process run whose command line has this word in it?
bool runs_with(pid_t pid, const std::string& word);

}  // namespace ringcheck::cli
