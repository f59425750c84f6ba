// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/promise.h"

#include <c10/util/StringUtil.h>

namespace ringcheck::parity {

void validate(const Promise& promise, const std::string& subject) {
  const std::string who = "subject " + subject + " promises ";
  const reference::Partials merged = promise.merged();
  for (const int partials : {merged.of_o, merged.of_dq, merged.of_dkv})
    if (partials < 1)
      throw BadCase(who + std::to_string(partials) + " partial results a row; it must be at least 1");
  if (!(promise.u_angle >= 0x1p-53 && promise.u_angle <= 0x1p-8))
    throw BadCase(c10::str(who, "angles of unit roundoff ", promise.u_angle,
                           "; it must be from 2^-53 (float64) to 2^-8 (bf16); float32 has 2^-24"));
  for (const std::string& name : promise.shows)
    if (!std::set<std::string>{"o", "lse", "dq", "dk", "dv", "q", "k"}.contains(name))
      throw BadCase(who + "a tensor '" + name + "'; known: o, lse, dq, dk, dv, q, k");
  if (!promise.shows.contains("o"))
    throw BadCase(who + "no o; without an output there is nothing to judge: show o");
  if (promise.shows.contains("q") != promise.shows.contains("k"))
    throw BadCase(who + "only one of q and k; show both as they were attended, or none");
}

}  // namespace ringcheck::parity
