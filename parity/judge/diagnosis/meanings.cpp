// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/diagnosis/meanings.h"

#include <c10/util/StringUtil.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace ringcheck::parity {
namespace {

constexpr double kSharp = 0.05;  // beyond this relative width a factor is no number in particular

struct Meaning {
  double value;
  std::string words;
};

std::vector<Meaning> meanings(const Scene& scene) {
  const auto world = static_cast<double>(scene.world), group = static_cast<double>(scene.group);
  std::vector<Meaning> list{{-1, "a sign"},
                            {scene.scale, "the softmax scale"},
                            {1 / scene.scale, "1 over the softmax scale"},
                            {std::numbers::ln2, "ln 2, of scores in base 2"},
                            {std::numbers::log2e, "1 over ln 2, of scores in base 2"}};
  if (world > 1)
    list.insert(list.end(), {{world, "the number of ranks"}, {1 / world, "1 over the number of ranks"},
                             {world * world, "the number of ranks squared"}, {1 / (world * world), "1 over the number of ranks squared"}});
  if (group > 1)
    list.insert(list.end(), {{group, "the query heads of a group"},
                             {1 / group, "1 over the query heads of a group"}});
  if (!scene.training) return list;
  for (int count = 2; count <= 32; ++count)
    list.insert(list.end(), {{1.0 * count, c10::str(count, " equal microbatches added up")},
                             {1.0 / count, c10::str("1 of ", count, " microbatches")}});
  for (int power = 6; power <= 24; ++power)
    list.push_back({std::ldexp(1, power), c10::str("a loss scale of 2^", power)});
  return list;
}

}  // namespace

std::string meaning_of(double value, double width, const Scene& scene) {
  if (width > kSharp * std::abs(value)) return "";
  std::string words;
  for (const Meaning& one : meanings(scene))
    if (std::abs(one.value - value) <= width) words += (words.empty() ? "" : ", or ") + one.words;
  return words.empty() ? "" : "; it may be " + words;
}

}  // namespace ringcheck::parity
