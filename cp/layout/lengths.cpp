// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/layout/lengths.h"

#include <ATen/ATen.h>

namespace ringcheck {

at::Tensor SameLength::of(const at::Tensor& x) const {
  return count == x.size(0) ? x : x.narrow(0, first, count);
}

std::vector<SameLength> by_length(const Mask& mask, const Lengths& lengths, int64_t batch) {
  if (lengths.empty()) return {{0, batch, mask}};
  std::vector<SameLength> list;
  for (int64_t entry = 0; entry < batch; ++entry) {
    const int64_t length = lengths.at(entry);
    if (list.empty() || list.back().mask.length != length) list.push_back({entry, 0, {mask.kind, length}});
    ++list.back().count;
  }
  return list;
}

std::optional<std::string> refuses(const Mask& mask, const Lengths& lengths, int64_t batch) {
  if (lengths.empty()) return std::nullopt;
  if (static_cast<int64_t>(lengths.size()) != batch)
    return "there are lengths of " + std::to_string(lengths.size()) + " entries, the batch has " +
           std::to_string(batch) + "; give one for each";
  for (const int64_t length : lengths)
    if (length < 0 || length > mask.length)
      return "an entry of length " + std::to_string(length) + " in a sequence of " +
             std::to_string(mask.length) + " slots; give 0 to " + std::to_string(mask.length);
  if (documents(mask) != nullptr)
    return "packed documents have lengths of their own; give no lengths of entries beside them";
  return std::nullopt;
}

}  // namespace ringcheck
