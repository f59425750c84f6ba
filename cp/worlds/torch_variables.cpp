// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/torch_variables.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace ringcheck {
namespace {

constexpr std::array kAll{"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"};
constexpr int kMostRanks = 1 << 20, kMostPort = 65535;

[[noreturn]] void refuse(const std::string& what) {
  throw BadLaunch(what +
                           "; ranks are started by torchrun, by mpirun, or with RANK, WORLD_SIZE, "
                           "MASTER_ADDR and MASTER_PORT; to run alone, unset all four");
}

// All of the text, from `least` to `most`.
int number(const Lookup& environment, const char* name, int least, int most) {
  const std::string_view text = environment(name);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    refuse(std::string(name) + "='" + std::string(text) + "' is no number from " +
           std::to_string(least) + " to " + std::to_string(most) +
           (name == kAll[0] ? ", below WORLD_SIZE" : ""));
  return value;
}

int number_if_set(const Lookup& environment, const char* name, int least) {
  return environment(name) == nullptr ? -1 : number(environment, name, least, kMostRanks);
}

void check_said(const Lookup& environment, const char* name) {
  if (environment(name) != nullptr) return;
  std::string others;
  for (const char* other : kAll)
    if (const char* value = environment(other))
      others += (others.empty() ? "" : ", ") + std::string(other) + "=" + value;
  refuse(std::string(name) + " is not set beside " + others);
}

}  // namespace

const char* variable(const char* name) { return std::getenv(name); }

bool has_torch_variables(const Lookup& environment) {
  return std::ranges::all_of(kAll, [&](const char* name) { return environment(name) != nullptr; });
}

std::optional<TorchVariables> torch_variables(const Lookup& environment) {
  if (std::ranges::none_of(kAll, [&](const char* name) { return environment(name) != nullptr; }))
    return std::nullopt;
  TorchVariables said;
  check_said(environment, "RANK");
  check_said(environment, "WORLD_SIZE");
  said.size = number(environment, "WORLD_SIZE", 1, kMostRanks);
  said.rank = number(environment, "RANK", 0, said.size - 1);  // below WORLD_SIZE
  said.local_rank = number_if_set(environment, "LOCAL_RANK", 0);
  said.local_size = number_if_set(environment, "LOCAL_WORLD_SIZE", 1);
  for (const char* name : {"MASTER_ADDR", "MASTER_PORT"})
    if (said.size > 1) check_said(environment, name);
  if (const char* address = environment("MASTER_ADDR")) {
    said.address = address;
    if (said.address.find_first_of(" \t") != std::string::npos || said.address.empty())
      refuse("MASTER_ADDR='" + said.address + "' is no address");
  }
  if (environment("MASTER_PORT") != nullptr)
    said.port = static_cast<uint16_t>(number(environment, "MASTER_PORT", 1, kMostPort));
  return said;
}

}  // namespace ringcheck
