// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

// The shards of another balancer, as `balancers` asks for them.
std::vector<Positions> cut_otherwise(Case test) {
  test.balance = test.balance == "contiguous" ? "headtail" : "contiguous";
  test.block = 1;
  return layout_of(test).keys;
}

// Each rank holds two runs that lie between each other: 0, 2P, 4P, ... and P, 3P, 5P, ... of rank 0. Read
// slot by slot its positions go up, and once down.
std::vector<Positions> woven(const Case& test) {
  const int64_t ranks = test.world, runs = 2 * ranks;
  const int64_t length = (test.seq + runs - 1) / runs;
  std::vector<Positions> shards;
  for (int64_t rank = 0; rank < ranks; ++rank)
    shards.push_back({{rank, length, runs}, {rank + ranks, length, runs}});
  return shards;
}

// Each rank holds three runs with gaps of unlike lengths between them: 0, 3 and 4 of rank 0 of two.
std::vector<Positions> gaps(const Case& test) {
  const int64_t ranks = test.world, length = (test.seq + 3 * ranks - 1) / (3 * ranks);
  std::vector<Positions> shards;
  for (int64_t rank = 0; rank < ranks; ++rank)
    shards.push_back({{rank * length, length}, {(2 * ranks - 1 - rank) * length, length}, {(2 * ranks + rank) * length, length}});
  return shards;
}

bool takes(const Case& test, const Layout& layout) {
  Plan plan = plan_of(test);
  plan.layout = layout;
  return !not_supported(test, plan);
}

// Those that the kernel takes. Some know nothing of keys that do not ascend: then the queries alone
// are woven.
std::vector<Run> runs(const Case& test) {
  const Layout own = layout_of(test);
  const std::vector<Positions> mixed = woven(test);
  const Layout apart{own.queries, cut_otherwise(test)}, both{mixed, mixed}, queries{mixed, own.keys};
  std::vector<Run> list;
  for (const Layout& layout : {apart, takes(test, both) ? both : queries, Layout::of_both(gaps(test))})
    if (takes(test, layout)) {
      list.push_back({test});
      list.back().layout = layout;
    }
  return list;
}

OracleVerdict judge(const Evidence& e) {
  const std::vector<Run> asked = runs(e.test);
  std::vector<OracleVerdict> parts;
  for (size_t i = 0; i < asked.size(); ++i) parts.push_back(right(e, asked[i], e.variations[i]));
  OracleVerdict verdict = all_of(std::move(parts));
  demand_done(e, "the subject promised to take queries and keys cut in any way, and did not do it",
              verdict);
  return verdict;
}

const Oracles::Add registered{
    "layouts",
    {.proves = "queries and keys may be cut unlike each other, and each rank may hold runs that lie "
               "between each other, or leave unlike gaps: F stays right",
     .judge = judge, .variations = runs, .cost = "further runs, and parity of each",
     .demand = {.any_layout = true}}};

}  // namespace
}  // namespace ringcheck::parity
