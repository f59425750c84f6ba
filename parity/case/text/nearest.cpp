// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/text/nearest.h"

#include <algorithm>

namespace ringcheck::parity {
namespace {

constexpr size_t kLongest = 64;  // no name of ours is longer, and a word may be a whole file

std::string bare(const std::string& text) { return text.substr(0, text.find('[')); }

// Letters to insert, drop, replace, or swap with the next one (Damerau 1964; no letter twice).
size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> table(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      const size_t replaced = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  return table[a.size()][b.size()];
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& names) {
  const std::string typed = bare(word);
  if (typed.size() > kLongest) return "";
  const size_t most = std::max<size_t>(1, typed.size() / 3);
  // What is in brackets decides among names that are equally near without them.
  const std::string whole = word.substr(0, kLongest);
  std::string found;
  std::pair<size_t, size_t> least{most + 1, 0};
  for (const std::string& name : names)
    if (const size_t apart = distance(typed, bare(name)); apart <= least.first && apart < typed.size())
      if (const std::pair both{apart, distance(whole, name)}; both < least) {
        found = name;
        least = both;
      }
  return found;
}

std::string unknown_name(const std::string& family, const std::string& word,
                         const std::vector<std::string>& names) {
  const std::string meant = nearest(word, names);
  std::string text = "unknown " + family + " '" + word + "'; ";
  text += meant.empty() ? "name one that is known: " : "did you mean '" + meant + "'? known: ";
  for (const std::string& name : names) text += (&name == &names.front() ? "" : ", ") + name;
  return text;
}

}  // namespace ringcheck::parity
