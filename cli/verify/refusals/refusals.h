// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "parity/case/case.h"

namespace ringcheck::cli {

// How many of some cases the kernels of a device refuse, by kernel and reason; numbers in a reason
// read N. A profile swaps a kernel that refuses for one that does not, so its results cannot show
// that a kernel began to.
struct Refusals {
  std::string device;  // "cpu", or the architecture of the GPU: "sm_90"
  int64_t cases = 0;
  std::map<std::string, std::map<std::string, int64_t>>
      kernels;  // one that refuses nothing is there
};

// Every kernel of the device is asked for every case on threads, whichever kernel it names.
Refusals refusals_of(const std::vector<parity::Case>& cases, const std::string& device);

nlohmann::json to_json(const Refusals& refusals);
// Throws nlohmann::json::exception or std::invalid_argument where it is none.
Refusals refusals_from_json(const nlohmann::json& file);

// What differs from a list, a line each; nothing where they are the same.
std::vector<std::string> differences(const Refusals& here, const Refusals& listed);

}  // namespace ringcheck::cli
