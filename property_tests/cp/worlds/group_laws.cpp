// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "property_tests/cp/attention/passes.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

// Groups within groups: who is in one, what it is called, and whose messages are whose.
namespace ringcheck {
namespace {

// Every rank splits the group that its `of`-th split gave it; 0 is the world.
struct Split {
  size_t of = 0;
  std::vector<int> colors, keys;  // of each world rank
};

std::vector<Split> drawn_splits(int world) {
  std::vector<Split> splits(*gen::between(1, 6).as("splits"));
  for (size_t i = 0; i < splits.size(); ++i) {
    splits[i].of = static_cast<size_t>(*gen::between(0, static_cast<int64_t>(i)).as("of"));
    for (int rank = 0; rank < world; ++rank) {
      splits[i].colors.push_back(
          *gen::choice<int>({0, 1, 60, 61, 62, -1, -62, 1 << 30, -(1 << 30)}).as("color"));
      splits[i].keys.push_back(static_cast<int>(*gen::between(-2, 2).as("key")));
    }
  }
  return splits;
}

struct Seen {
  int64_t id = 0;
  std::vector<int> world_ranks;
};

// The groups of one rank. They stay, so that none is met twice by chance.
using Groups = std::vector<std::unique_ptr<Communicator>>;

Groups groups_of(Communicator& world, const std::vector<Split>& splits) {
  const int rank = world.rank();
  Groups groups;
  for (const Split& split : splits) {
    Communicator& parent = split.of == 0 ? world : *groups.at(split.of - 1);
    groups.push_back(parent.split(split.colors[rank], split.keys[rank]));
  }
  return groups;
}

std::vector<Communicator*> with_world(Communicator& world, const Groups& groups) {
  std::vector<Communicator*> all{&world};
  for (const auto& group : groups) all.push_back(group.get());
  return all;
}

// What world rank `from` says in the n-th group.
at::Tensor payload(int from, size_t n) {
  return at::full({3}, 100.0 * static_cast<double>(n) + from);
}

std::vector<std::vector<Seen>> seen_by_all(int world, const std::vector<Split>& splits) {
  return on_every_rank(world, [&](Communicator& comm) {
    const Groups groups = groups_of(comm, splits);
    std::vector<Seen> seen;
    for (const Communicator* group : with_world(comm, groups))
      seen.push_back({group->group().id, group->group().world_ranks});
    return seen;
  });
}

// All ranks of a group call it the same.
RC_GTEST_PROP(Groups, AGroupHasOneId, ()) {
  const int world = *gen::world().as("world");
  const auto seen = seen_by_all(world, drawn_splits(world));
  for (const auto& of_rank : seen)
    for (size_t n = 0; n < of_rank.size(); ++n)
      for (const int member : of_rank[n].world_ranks) {
        RC_ASSERT(seen[member][n].id == of_rank[n].id);
        RC_ASSERT(seen[member][n].world_ranks == of_rank[n].world_ranks);
      }
}

// No two groups that share a rank are called the same.
RC_GTEST_PROP(Groups, NoTwoGroupsOfARankShareAnId, ()) {
  const int world = *gen::world().as("world");
  for (const auto& of_rank : seen_by_all(world, drawn_splits(world))) {
    std::set<int64_t> ids;
    for (const Seen& group : of_rank) ids.insert(group.id);
    RC_ASSERT(ids.size() == of_rank.size());
  }
}

// Ids stay small: a split adds at most one for each of its groups.
RC_GTEST_PROP(Groups, IdsAreDense, ()) {
  const int world = *gen::world().as("world");
  const auto splits = drawn_splits(world);
  const auto most = static_cast<int64_t>(splits.size()) * world;
  for (const auto& of_rank : seen_by_all(world, splits))
    for (const Seen& group : of_rank) RC_ASSERT((group.id >= 0 && group.id <= most));
}

// Messages of all groups of a rank are on their way at once, posted by each rank in an order of its
// own, and every one arrives in its group.
RC_GTEST_PROP(Groups, MessagesOfGroupsDoNotMix, ()) {
  const int world = *gen::world().as("world");
  const auto splits = drawn_splits(world);
  const auto mixed = on_every_rank(world, [&](Communicator& comm) {
    const Groups groups = groups_of(comm, splits);
    const auto all = with_world(comm, groups);
    std::vector<at::Tensor> received(all.size());
    std::map<size_t, Pending> pending;
    for (size_t i = 0; i < all.size(); ++i) {
      const size_t n = (i + static_cast<size_t>(comm.rank())) % all.size();
      received[n] = at::empty({3});
      pending[n] = all[n]->exchange(payload(comm.rank(), n), all[n]->right(), received[n],
                                    all[n]->left(), {"group", static_cast<int>(n)});
    }
    std::string wrong;
    for (size_t n = all.size(); n-- > 0;) {
      pending[n].wait();
      if (!received[n].equal(payload(all[n]->world_rank(all[n]->left()), n)))
        wrong += "group " + std::to_string(n) + "; ";
    }
    return wrong;
  });
  RC_ASSERT(mixed == std::vector<std::string>(world));
}

}  // namespace
}  // namespace ringcheck
