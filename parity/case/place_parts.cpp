// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "parity/case/part.h"

namespace ringcheck::parity {
namespace {

// Ranks: validate() says how many there may be.
constexpr int64_t kFarTooMany = std::numeric_limits<int>::max();

std::vector<Case> smaller_worlds(const Case& test) {
  std::vector<Case> list;
  for (int world = 1; world < test.world; ++world)
    list.push_back(with(test, [&](Case& c) { c.world = world; }));
  return list;
}

Part world_part() {
  Part row{.name = "world", .option = "world", .prefix = "P", .help = "ranks", .standard = "4",
           .most = 256};  // on one machine
  row.claims = [](std::string_view text) { return !text.empty() && std::isdigit(text[0]); };
  row.print = [](const Case& c) { return std::to_string(c.world); };
  row.parse = [](Case& c, const std::string& text) {
    c.world = static_cast<int>(std::clamp(parse_size(text), -kFarTooMany, kFarTooMany));
  };
  row.values = [] { return std::vector<std::string>{"1", "2", "3", "4", "5", "7", "8"}; };
  row.simpler = smaller_worlds;
  return row;
}

}  // namespace

std::vector<Part> place_parts() {
  return {name_part("world_kind", "world-kind",
                    "thread: ranks in one process; mpi: a process a rank, whoever launched them (on GPUs: --transport)",
                    &Case::world_kind,
                    [] { return std::vector<std::string>{"thread", "mpi"}; }),
          name_part("device", "device", "cpu, cuda", &Case::device,
                    [] { return std::vector<std::string>{"cpu", "cuda"}; }),
          world_part()};
}

}  // namespace ringcheck::parity
