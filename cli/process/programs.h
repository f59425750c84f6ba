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
// 'R', 'S', 'T' (stopped), 'Z' (dead); nothing where there is no such process. A signal handler may ask.
std::optional<char> process_state(pid_t pid) noexcept;
// Neither gone nor dead.
bool is_alive(pid_t pid) noexcept;
// Does a process run whose command line has this word in it?
bool runs_with(pid_t pid, const std::string& word);

}  // namespace ringcheck::cli
