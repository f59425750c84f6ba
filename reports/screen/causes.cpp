// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/screen/causes.h"

#include <algorithm>
#include <map>

#include "reports/formats/verdict.h"
#include "reports/screen/console.h"
#include "reports/text.h"

namespace ringcheck::reports {
namespace {

constexpr size_t kCauses = 8;  // written

// "dk and dv: as if ..." of all tensors alike.
std::string cause_of(const CaseResult& test) {
  if (test.explained.empty()) return to_text(test.verdict) + ": " + headline(test);
  const std::string& first = test.explained.front();
  const size_t words = first.find(": ");
  return words == std::string::npos ? first : first.substr(words + 2);
}

}  // namespace

std::string causes(const std::vector<CaseResult>& cases, size_t in_full) {
  std::map<std::string, int64_t> counts;
  size_t bad = 0;
  for (const CaseResult& test : cases)
    if (is_bad(test.verdict)) {
      ++counts[cause_of(test)];
      ++bad;
    }
  if (bad <= in_full) return "";
  std::vector<std::pair<std::string, int64_t>> list(counts.begin(), counts.end());
  std::ranges::stable_sort(list, std::ranges::greater(), &std::pair<std::string, int64_t>::second);
  std::string text = "\nThese " + std::to_string(bad) + " by what would explain them, else by why:\n";
  for (size_t i = 0; i < std::min(list.size(), kCauses); ++i)
    text += right(std::to_string(list[i].second), 7) + "  " + wrapped(visible(list[i].first), 9, 9) + "\n";
  const size_t more = list.size() - std::min(list.size(), kCauses);
  if (more > 0) text += "         and " + std::to_string(more) + (more == 1 ? " more cause\n" : " more causes\n");
  return text;
}

}  // namespace ringcheck::reports
