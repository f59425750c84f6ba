// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/detection/kill_matrix.h"

namespace ringcheck::cli {

// One of several runs that share a list: every `of`th of it, from `number`, which counts from 1.
struct Shard {
  size_t number = 1, of = 1;
};
// "2/4". Throws UsageError.
Shard parse_shard(const std::string& text);

template <class T>
std::vector<T> part_of(const std::vector<T>& list, const Shard& shard) {
  std::vector<T> part;
  for (size_t i = shard.number - 1; i < list.size(); i += shard.of) part.push_back(list[i]);
  return part;
}

// What all shards of a run found. Throws UsageError where they are not its shards, each once.
KillMatrix merged(const std::vector<KillMatrix>& shards);

}  // namespace ringcheck::cli
