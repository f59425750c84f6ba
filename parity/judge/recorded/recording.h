// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <vector>

#include "parity/judge/judged.h"

namespace ringcheck::parity {

// All that a verdict follows from, on the CPU: judged again it is the same, without the subject and
// without the device on which that ran.
struct Recording {
  Case test;
  std::vector<std::string> oracles;
  int64_t sample = 0;
  Problem problem;
  Observed observed;
  std::map<std::string, Promise> promises;  // by the text of the case that they are about
};

// Those oracles that ask the kernel what it allocates are left out where it is on a GPU.
Recording recording_of(const Trial& trial, const Observed& observed);

int64_t bytes_of(const Recording& recording);

Verdict judged(const Recording& recording);

// Writes its files to a folder; gives what is to stand in the manifest.
nlohmann::json write_recording(const std::string& folder, const Recording& recording);

// Throws BadCase and nlohmann::json::exception.
Recording read_recording(const std::string& folder, const nlohmann::json& content);

}  // namespace ringcheck::parity
