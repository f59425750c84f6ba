// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/further_tensors.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>

#include "cp/layout/shard.h"
#include "parity/subject/gather.h"

namespace ringcheck::parity {
namespace {

at::Tensor sum_of(const std::vector<at::Tensor>& terms) {
  at::Tensor sum = terms.front().to(at::kDouble);
  for (size_t rank = 1; rank < terms.size(); ++rank) sum = sum + terms[rank].to(at::kDouble);
  return sum;
}

// One tensor out of those of all ranks. One that should be the same everywhere and is not is
// missing, with the first rank that differs.
at::Tensor placed(const std::string& name, Placement placement,
                  const std::vector<at::Tensor>& values, const Case& test, Outcome& outcome) {
  switch (placement) {
    case Placement::kSharded: return unshard(values, 2, layout_of(test).queries, test.seq);
    case Placement::kSummed: return sum_of(values);
    case Placement::kReplicated:
      for (size_t rank = 1; rank < values.size(); ++rank)
        if (!same_values(values[0], values[rank])) {
          outcome.missing.push_back(c10::str(name, ": rank ", rank, " has another one than rank 0"));
          return {};
        }
  }
  return values.front();
}

// What a rank has of further tensors, in words. The ranks must agree on it.
std::string description(const std::map<std::string, Placed>& others) {
  std::string text;
  for (const auto& [name, other] : others) {
    static const char* const kPlacements[] = {"sharded", "replicated", "summed"};
    text += c10::str(text.empty() ? "" : ", ", name, " ", other.value.scalar_type(),
                     other.value.sizes(), " ", kPlacements[static_cast<int>(other.placement)]);
  }
  return text.empty() ? "none" : text;
}

// Whether all ranks have the same further tensors; the first that has others is named.
bool agreed(const std::vector<std::string>& ranks, Outcome& outcome) {
  for (size_t rank = 1; rank < ranks.size(); ++rank)
    if (ranks[rank] != ranks[0]) {
      outcome.missing.push_back(c10::str("further tensors: rank ", rank, " returned ", ranks[rank],
                                         "; rank 0 returned ", ranks[0]));
      return false;
    }
  return true;
}

}  // namespace

void collect_further(Communicator& comm, const Case& test, const RankOutput& own, Outcome& outcome) {
  if (!agreed(gather(comm, description(own.others)), outcome)) return;
  for (const auto& [name, other] : own.others)
    outcome.others[name] =
        placed(name, other.placement, gather(comm, other.value.contiguous()), test, outcome);
}

void put_together_further(const Case& test, const std::vector<RankOutput>& ranks,
                          Outcome& outcome) {
  std::vector<std::string> descriptions;
  for (const RankOutput& rank : ranks) descriptions.push_back(description(rank.others));
  if (!agreed(descriptions, outcome)) return;
  for (const auto& [name, first] : ranks.front().others) {
    std::vector<at::Tensor> values;
    for (const RankOutput& rank : ranks) values.push_back(rank.others.at(name).value);
    outcome.others[name] = placed(name, first.placement, values, test, outcome);
  }
}

}  // namespace ringcheck::parity
