// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/guard/unseen.h"

#include <c10/util/StringUtil.h>

#include "parity/judge/comparison.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using parity::Status;

std::string of_mask(const Guarded& all) {
  const std::string alone = "ranks that attend to their own tokens alone";
  return "attention under another mask, at other positions or with another rotary embedding is "
         "attention, too" +
         (all.parts.size() > 1 ? "; " + alone + " would have been seen" : ", as is that of " + alone);
}

std::string of_lse(const Guarded& all) {
  return all.has_lse ? "its values, but for a NaN, +inf, and which rows are -inf"
                     : "it was not given: nothing of it, nor which queries see no key";
}

// A law fails where a tensor is off by a common factor of more than this.
std::string smallest(const Guarded& all, size_t law, const char* tensors) {
  const double power = all.laws[law].power;
  return c10::str(all.laws[law].law, " a factor on ", tensors, " within ",
                  reports::figure(100 * parity::kStat / power), " % of 1");
}

std::string of_size(const Guarded& all) {
  std::string says = "what the rounding that is assumed could explain:";
  const char* tensors[] = {"dv", nullptr, "dq or dk", "o"};
  for (size_t law = 0; law < all.laws.size(); ++law)
    if (tensors[law] != nullptr && all.laws[law].status == Status::kPass)
      says += (says.back() == ':' ? " " : ", ") + smallest(all, law, tensors[law]);
  return says;
}

}  // namespace

std::vector<Unseen> unseen(const Guarded& all) {
  std::vector<Unseen> list{
      {"mask", of_mask(all)},
      {"scale", "another softmax scale, where both passes have it"},
      {"lse", of_lse(all)},
      {"dq_dk", "a factor that dq and dk have in common"},
      {"d", all.how.rotated ? "D of the block in place of D of the row, where P is right"
                            : "any wrong D: C2, which sees it, asks for q and k after the rotary "
                              "embedding"},
      {"do", "do itself: it is taken for right, and q, k and v too"},
      {"size", of_size(all)}};
  for (const parity::LawVerdict& law : all.laws)
    if (law.status != Status::kNotApplicable && law.counted < law.heads)
      list.push_back({"heads", c10::str(law.law, ": a plainly wrong result in ",
                                        law.heads - law.counted, " of ", law.heads,
                                        " (batch, kv head)")});
  return list;
}

}  // namespace ringcheck::cli
