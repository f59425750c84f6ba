// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <map>
#include <set>

#include "parity/faults/self_test/plain_subject.h"
#include "parity/faults/self_test/self_test.h"

namespace ringcheck::parity {
namespace {

// As small as the cases of a profile that draw relations. One of them has what a relation asks for.
constexpr const char* kKinds[] = {"ring:p2p/headtail/causal/P3/hq2/hkv1/s37/d8", "ring:p2p/headtail/full/P3/hq2/hkv1/s37/d8/scale:0.3",
                                  "ring:p2p/headtail/causal/P3/hq2/hkv1/s37/d8/rope:half[100]"};
constexpr int kTimes = 10;  // as often as one in so many would be drawn

}  // namespace

void examine_draws(const DrawOracles& draw, SelfTest& result) {
  for (const char* kind : kKinds) {
    std::set<std::string> apply;
    int many = 1;
    for (const auto& [name, oracle] : Oracles::all()) {
      const Case test = parse_case(kind);
      if (!oracle.variations || oracle.variations(test).empty() || oracle.demand.unmet(plain::subject().promise(test))) continue;
      apply.insert(name);
      many = std::max(many, oracle.one_in * kTimes);
    }
    std::map<std::string, std::set<int>> drawn;  // by which seeds
    for (int seed = 1; seed <= many; ++seed)
      for (const std::string& name : draw(parse_case(c10::str(kind, "/seed", seed)), plain::subject())) drawn[name].insert(seed);
    std::map<std::set<int>, std::string> alike;
    for (const std::string& name : apply) {
      result.demand(drawn.contains(name), c10::str(name, " is drawn by none of ", many, " cases as ", kind));
      const auto [other, alone] = alike.emplace(drawn[name], name);
      result.demand(alone || drawn[name].empty(), c10::str(name, " is drawn by just the cases that draw ", other->second));
    }
  }
}

}  // namespace ringcheck::parity
