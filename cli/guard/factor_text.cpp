// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/guard/factor_text.h"

#include <c10/util/StringUtil.h>

#include <algorithm>

#include "parity/judge/comparison.h"
#include "parity/judge/diagnosis/meanings.h"

namespace ringcheck::cli {
namespace {

std::string meaning_of(double value, double sigma, const Guarded& all) {
  const int ranks = std::max(all.world, static_cast<int>(all.files.size()));
  return parity::meaning_of(value, parity::kStat * sigma, {all.how.scale, ranks, all.group, true});
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
