// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cp/attention/attention_kernel.h"
#include "parity/faults/self_test/self_test.h"
#include "parity/subject/contract.h"
#include "parity/subject/ours.h"

namespace ringcheck::parity {
namespace {

// Who is asked where nobody says otherwise, at least.
void examine_defaults(SelfTest& result) {
  const std::vector<std::string> asked = Judging().oracles;
  for (const char* name : {"census", "conservation", "constant-v", "counters", "equal-keys", "ownership", "parity", "returned",
                           "rope", "rope-norms", "routing", "routing-gradients", "snap"})
    result.demand(std::ranges::find(asked, name) != asked.end(),
                  c10::str(name, " is not asked where nobody names the oracles"));
}

// Bounds grow with the rounded results that a row is merged from, of which nobody is promised more than there are.
void examine_partials(SelfTest& result) {
  for (const auto& [strategy, known] :
       {std::pair("ring:p2p", 4), {"ring:allgather", 4}, {"gathered", 4}, {"ulysses", 1}}) {
    const Case test = parse_case(c10::str(strategy, "/causal/P4/b1/hq4/hkv4/s16/d4/dv4/float32"));
    const int found = ours()->promise(test).partials;
    result.demand(found == known,
                  c10::str(strategy, " promises ", found, " partial results on 4 ranks, not ", known));
  }
}

// Every chart that is committed is found by its case, whatever the seed.
void examine_charts(SelfTest& result) {
  int64_t charts = 0;
  for (const auto& [kernel, made] : AttentionKernels::all())
    for (const auto& [text, tensors] : contract_json(kernel).at("charts").items()) {
      Case test = parse_case(text);
      test.seed = 7;
      result.demand(chart_key(test) == chart_key(parse_case(text)), "a case does not find its chart " + text);
      if (test.device != "cpu") continue;  // a chart of a GPU is that of one architecture
      ++charts;
      result.demand(ours()->promise(test).charts.size() == tensors.size(),
                    "what a case promises is not its chart " + text);
    }
  result.demand(charts > 0, "no kernel on a CPU has a chart");
}

}  // namespace

void examine_promises(SelfTest& result) {
  examine_defaults(result);
  examine_partials(result);
  examine_charts(result);
}

}  // namespace ringcheck::parity
