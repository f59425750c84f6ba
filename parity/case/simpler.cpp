// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/simpler.h"

#include <algorithm>

#include "parity/case/data_family.h"
#include "parity/case/part.h"

namespace ringcheck::parity {
namespace {

// What makes a case cheaper to run comes first, what only makes it nicer last.
int order_of(const Part& part) {
  constexpr const char* kFirst[] = {"world", "seq", "mask", "batch", "heads", "dim", "dim_v"};
  const auto found = std::ranges::find(kFirst, part.name);
  return static_cast<int>(found - std::begin(kFirst));
}

// Some data families take few cases only.
bool can_run(const Case& test) {
  const auto family = DataFamilies::all().find(test.data);
  const bool has_data = family == DataFamilies::all().end() || !family->second.refuses(test);
  return has_data && !not_supported(test);
}

}  // namespace

std::vector<Case> simpler(const Case& test) {
  std::vector<const Part*> rows;
  for (const Part& row : parts())
    if (row.simpler) rows.push_back(&row);
  std::ranges::stable_sort(rows, {}, [](const Part* row) { return order_of(*row); });
  std::vector<Case> list;
  for (const Part* row : rows)
    for (Case& other : row->simpler(test))
      if (!(other == test) && can_run(other)) list.push_back(std::move(other));
  return list;
}

}  // namespace ringcheck::parity
