// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/detection/shards.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "cli/usage_error.h"

namespace ringcheck::cli {
namespace {

constexpr size_t kMost = 1000;

// All of the text, or 0.
size_t number(std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

void check_alike(const KillMatrix& first, const KillMatrix& other) {
  const auto same = [](bool holds, const char* what) {
    if (!holds)
      throw UsageError(std::string("--merge: the shards have other ") + what +
                       "; give those of one run");
  };
  same(first.profile == other.profile, "profiles");
  same(first.dtypes == other.dtypes, "dtypes");
  same(first.oracles == other.oracles, "oracles");
  same(first.environment.commit == other.environment.commit, "commits");
}

void check_complete(const std::vector<KillMatrix>& shards) {
  std::set<size_t> seen;
  for (const KillMatrix& matrix : shards)
    if (matrix.shard.empty())
      throw UsageError("--merge: a result of all faults is no shard; give those of runs with --shard I/N");
  const size_t of = parse_shard(shards.front().shard).of;
  for (const KillMatrix& matrix : shards) {
    const Shard shard = parse_shard(matrix.shard);
    if (shard.of != of || !seen.insert(shard.number).second)
      throw UsageError("--merge: shard " + matrix.shard + " does not fit to " +
                       shards.front().shard + "; give every shard of one run once");
  }
  if (seen.size() != of)
    throw UsageError("--merge: " + std::to_string(seen.size()) + " of " + std::to_string(of) +
                     " shards; give every shard of the run");
}

}  // namespace

Shard parse_shard(const std::string& text) {
  const size_t slash = std::min(text.find('/'), text.size());
  const Shard shard{number(text.substr(0, slash)), number(text.substr(std::min(slash + 1, text.size())))};
  if (shard.number < 1 || shard.number > shard.of || shard.of > kMost)
    throw UsageError("--shard '" + text + "': want I/N with 1 <= I <= N <= " +
                     std::to_string(kMost) + ", such as 2/4");
  return shard;
}

KillMatrix merged(const std::vector<KillMatrix>& shards) {
  KillMatrix all = shards.front();
  check_complete(shards);
  for (const KillMatrix& matrix : shards) {
    if (&matrix == &shards.front())
      continue;
    check_alike(shards.front(), matrix);
    all.cells.insert(all.cells.end(), matrix.cells.begin(), matrix.cells.end());
    const auto& failures = matrix.self_test.failures;
    all.self_test.failures.insert(all.self_test.failures.end(), failures.begin(), failures.end());
    all.environment.wall_seconds =
        std::max(all.environment.wall_seconds, matrix.environment.wall_seconds);
  }
  all.shard.clear();
  std::ranges::stable_sort(all.cells, {}, &parity::Cell::fault);
  return all;
}

}  // namespace ringcheck::cli
