// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/diagnosis/reordered.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>

namespace ringcheck::parity {
namespace {

constexpr int64_t kMostShifts = 16;  // along an axis

// [.., a x b, ..] read as if it were [.., b x a, ..].
at::Tensor interleaved(const at::Tensor& x, int64_t axis, int64_t outer) {
  return x.unflatten(axis, {outer, x.size(axis) / outer}).transpose(axis, axis + 1).flatten(axis, axis + 1);
}

std::string shifted(const char* what, int64_t places) {
  return c10::str("each ", what, " held what the one ", places, places == 1 ? " place" : " places", " further on should");
}

}  // namespace

std::vector<Reordered> reordered(const at::Tensor& right, int64_t group) {
  std::vector<Reordered> list;
  const int64_t entries = right.size(0), heads = right.size(1), channels = right.size(3);
  for (int64_t shift = 1; shift < std::min(entries, kMostShifts); ++shift)
    list.push_back({shifted("batch entry", shift), right.roll(-shift, 0)});
  for (int64_t shift = 1; shift < std::min(heads, kMostShifts); ++shift)
    list.push_back({shifted("head", shift), right.roll(-shift, 1)});
  if (entries > 1 && entries == heads) list.push_back({"batch entries and heads were swapped", right.transpose(0, 1)});
  if (group > 1 && group < heads) {
    list.push_back({"heads lay by their number in a group, and not by groups", interleaved(right, 1, heads / group)});
    list.push_back({"heads lay by groups, where they were taken by their number in one", interleaved(right, 1, group)});
  }
  if (channels > 2 && channels % 2 == 0) {
    list.push_back({"the halves of the channels were swapped", right.roll(channels / 2, 3)});
    list.push_back({"channels by halves were interleaved", interleaved(right, 3, 2)});
    list.push_back({"interleaved channels were put into halves", interleaved(right, 3, channels / 2)});
  }
  list.push_back({"tokens were in reversed order", right.flip(2)});
  return list;
}

}  // namespace ringcheck::parity
