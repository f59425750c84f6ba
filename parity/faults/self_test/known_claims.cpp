// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include <map>

#include "parity/faults/self_test/known_relations.h"

namespace ringcheck::parity {
namespace {

// Of oracles that ask for no further run: the tensors that they pass by name, of the first case of which they have
// something to say.
const std::map<std::string, std::set<std::string>> kClaims{
    {"census", {"lse"}}, {"constant-v", {"o"}}, {"equal-keys", {"o", "lse"}}, {"ownership", {"o"}}, {"parity", {"o", "lse", "dq", "dk", "dv"}},
    {"rope", {"q", "k"}}, {"rope-norms", {"q", "k"}}, {"routing", {"o", "lse"}}, {"routing-gradients", {"dq", "dk", "dv"}},
    {"snap", {"o", "dq", "dk", "dv"}}};

}  // namespace

void examine_claims(const std::string& oracle, const std::set<std::string>& names, SelfTest& result) {
  const auto known = kClaims.find(oracle);
  if (known != kClaims.end())
    result.demand(names == known->second, c10::str(oracle, " judges '", c10::Join(" ", names), "', not '", c10::Join(" ", known->second), "'"));
}

}  // namespace ringcheck::parity
