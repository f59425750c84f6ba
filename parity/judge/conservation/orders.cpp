// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/conservation/orders.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>

namespace ringcheck::parity {
namespace {

using Files = std::vector<AttentionShard>;
using Tensor = at::Tensor AttentionShard::*;

// Tensors, and the laws in which their order matters.
struct Moved {
  const char* name;
  std::vector<Tensor> tensors;
  bool c3, c4;
};

std::vector<Moved> moved(const std::vector<LawVerdict>& laws) {
  std::vector<Moved> list{{"dk and dv", {&AttentionShard::dk, &AttentionShard::dv}, true, true},
                          {"dq", {&AttentionShard::dq}, true, false},
                          {"o", {&AttentionShard::o}, false, true}};
  const auto fails = [&](size_t law) { return laws[law].status == Status::kFail; };
  std::erase_if(list, [&](const Moved& one) {
    return fails(0) || fails(1) || (fails(2) && !one.c3) || (fails(3) && !one.c4);
  });
  return list;
}

constexpr int64_t kMostRanks = 64;

// The slots of the ranks, one rank after the other: of 2 ranks 0, 3, 1, 2.
at::Tensor head_tail(int64_t slots, int64_t ranks) {
  const at::Tensor chunks = at::arange(slots).view({2 * ranks, -1});
  std::vector<at::Tensor> order;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    order.push_back(chunks[rank]);
    order.push_back(chunks[2 * ranks - 1 - rank]);
  }
  return at::cat(order);
}

void shifted(const Files& files, const std::vector<Moved>& moved, std::vector<Reordered>& found) {
  const auto count = std::ssize(files);
  for (const auto& [name, tensors, c3, c4] : moved)
    for (const int64_t by : count == 2 ? std::vector<int64_t>{1} : std::vector<int64_t>{1, -1}) {
      Files shifted = files;
      bool alike = true;
      for (int64_t i = 0; i < count; ++i)
        for (const Tensor t : tensors) {
          shifted[i].*t = files[(i + by + count) % count].*t;
          alike &= (shifted[i].*t).sizes() == (files[i].*t).sizes();
        }
      if (alike)
        found.push_back({c10::str(name, " of each rank that belong to the rank ",
                                  by == 1 ? "before" : "after", " it"), shifted});
    }
}

void unbalanced(const AttentionShard& file, const std::vector<Moved>& moved,
                std::vector<Reordered>& found) {
  for (const auto& [name, tensors, c3, c4] : moved) {
    const int64_t slots = (file.*tensors.front()).size(2);
    for (int64_t ranks = 2; ranks <= kMostRanks && slots % (2 * ranks) == 0; ranks *= 2) {
      const at::Tensor order = head_tail(slots, ranks), back = order.argsort();
      for (const bool dumped_balanced : {true, false}) {
        AttentionShard changed = file;
        for (const Tensor t : tensors)
          changed.*t = (file.*t).index_select(2, dumped_balanced ? back : order);
        found.push_back({c10::str(name, dumped_balanced ? " in" : " not in",
                                  " the head-tail order of ", ranks, " ranks, and the rest ",
                                  dumped_balanced ? "not" : "in it"), {changed}});
      }
    }
  }
}

}  // namespace

std::vector<Reordered> reordered(const Files& files, const std::vector<LawVerdict>& laws) {
  std::vector<Reordered> found;
  if (files.size() > 1) shifted(files, moved(laws), found);
  else unbalanced(files.front(), moved(laws), found);
  return found;
}

}  // namespace ringcheck::parity
