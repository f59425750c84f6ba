// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/guard/factor_text.h"

#include <c10/util/StringUtil.h>

#include <cmath>
#include <numbers>

#include "parity/judge/comparison.h"

namespace ringcheck::cli {
namespace {

constexpr double kSharp = 0.05;  // beyond this relative width a factor is no number in particular

struct Meaning {
  double value;
  std::string words;
};

std::vector<Meaning> meanings(const Guarded& all) {
  const double world = static_cast<double>(std::max(all.world, static_cast<int>(all.files.size())));
  const double group = static_cast<double>(all.group), scale = all.how.scale;
  std::vector<Meaning> list{{-1, "a sign"},
                            {scale, "the softmax scale"},
                            {1 / scale, "1 over the softmax scale"},
                            {std::numbers::ln2, "ln 2, of scores in base 2"},
                            {std::numbers::log2e, "1 over ln 2, of scores in base 2"}};
  if (world > 1)
    list.insert(list.end(), {{world, "the number of ranks"}, {1 / world, "1 over the number of ranks"}});
  if (group > 1)
    list.insert(list.end(), {{group, "the query heads of a group"},
                             {1 / group, "1 over the query heads of a group"}});
  for (int count = 2; count <= 32; ++count)
    list.insert(list.end(), {{1.0 * count, c10::str(count, " equal microbatches added up")},
                             {1.0 / count, c10::str("1 of ", count, " microbatches")}});
  for (int power = 6; power <= 24; ++power)
    list.push_back({std::ldexp(1, power), c10::str("a loss scale of 2^", power)});
  return list;
}

std::string meaning_of(double value, double sigma, const Guarded& all) {
  const double width = parity::kStat * sigma;
  if (width > kSharp * std::abs(value)) return "";
  std::string words;
  for (const Meaning& one : meanings(all))
    if (std::abs(one.value - value) <= width) words += (words.empty() ? "" : ", or ") + one.words;
  return words.empty() ? "" : "; it may be " + words;
}

}  // namespace

std::string factor_text(const parity::Factor& factor, const Guarded& all) {
  const std::string tensor = factor.tensor;
  const double other = 1 / factor.value, width = parity::kStat * factor.sigma;
  const std::string number = c10::str(factor.value, " (+-", width, ")");
  const std::string meaning = meaning_of(factor.value, factor.sigma, all);
  if (factor.part >= 0)
    return tensor + " of " + all.part_name(factor.part) + " " + number +
           " times what the laws leave for it" + meaning;
  if (tensor == "dk") {
    const std::string of_dq = meaning_of(other, factor.sigma * other * other, all);
    return "dk " + number + " times what dq asks for" + meaning + "; or dq " + c10::str(other) +
           " times what dk asks for" + of_dq;
  }
  if (tensor == "dv")
    return "dv " + number + " times what do asks for: gradients scaled or added up (dq and dk then, "
           "too, which no law sees), or a do that lacks the factor" + meaning;
  return "o " + number + " times what dv asks for" + meaning;
}

}  // namespace ringcheck::cli
