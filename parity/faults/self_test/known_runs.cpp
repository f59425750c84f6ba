// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/self_test/known_runs.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace ringcheck::parity {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, '/');)
    words.push_back(word);
  return words;
}

// In what a further run differs from the run of a case: parts of the case, which of q, k, v and dO, and
// how the subject is called.
std::string what_changes(const Run& run, const Case& test, const Problem& problem) {
  std::vector<std::string> words;
  const std::vector<std::string> before = split(to_text(test));
  for (const std::string& part : split(to_text(run.test)))
    if (std::ranges::find(before, part) == before.end())
      words.push_back(part);
  const Problem other = run.problem(run.test, {{0, run.test.seq}});
  for (const auto& [name, tensor] : {std::pair{"q", &Problem::q}, {"k", &Problem::k},
                                     {"v", &Problem::v}, {"dO", &Problem::d_o}})
    if (!same_values(other.*tensor, problem.*tensor))
      words.push_back(name);
  const std::pair<bool, const char*> around[] = {
      {static_cast<bool>(run.meanwhile), "meanwhile"}, {run.by_autograd, "autograd"},
      {run.layout.has_value(), "layout"},              {run.in_other_group, "group"},
      {static_cast<bool>(run.surroundings), "around"}, {run.calls > 1, "calls"},
      {run.first_device != 0, "device"}};
  for (const auto& [is, word] : around)
    if (is)
      words.push_back(word);
  return c10::Join(" ", words);
}

// Of causal/P3/b2/hq4/hkv2/s15/d4/dv6, or the case with RoPE, or of 8 ranks.
const std::map<std::string, std::string> kChanges{
    {"adjoint", "v"},
    {"allocation-history", "around"},
    {"autograd", "autograd calls"},
    {"balancers", "contiguous"},
    {"causality", "k v"},
    {"channel-order", "q k v dO"},
    {"delays", "around"},
    {"device-order", "device"},
    {"difference-quotient", "q k v; q k v; q k v; q k v"},
    {"extremes", "q dO; q k dO; k"},
    {"gradient-causality", "q dO"},
    {"gradient-scale", "dO"},
    {"groups", "group"},
    {"head-order", "q k v dO"},
    {"key-shift", "k; k"},
    {"larger-batch", "b3 hq6 hkv3 q k v dO"},
    {"layouts", "layout; layout"},
    {"leak", "calls"},
    {"memory-growth", "P4 s8 q k v dO"},
    {"other-values", "seed2 q k v dO"},
    {"pads", "; "},  // what pads hold
    {"poison", "around; around"},
    {"position-shift", "window[5]; window[5] q k v dO"},
    {"prefix", "s10 q k v dO"},
    {"repeated-heads", "hkv4 k v"},
    {"repetition", "; calls"},
    {"rope-shards", "P1"},
    {"rotations", "ring:allgather; ring:allgather[keep]; ring:p2p"},
    {"run-to-run", "; ; ; "},
    {"saved-state", "meanwhile"},
    {"scale-in-query", "scale:0.125 q"},
    {"score-scale", "q k"},
    {"splitting", "q k; q k; q k"},
    {"strides", ""},
    {"value-scale", "v"},
    {"value-sum", "v; v; v"},
    {"visible-nan", "v; dO"},
    {"worlds", "P2"}};

}  // namespace

void examine_runs(const std::string& oracle, const std::vector<Run>& runs, const Case& test,
                  const Problem& problem, SelfTest& result) {
  const auto known = kChanges.find(oracle);
  if (test.dtype != at::kDouble || known == kChanges.end()) return;
  std::vector<std::string> changes;
  for (const Run& run : runs) changes.push_back(what_changes(run, test, problem));
  const std::string found = c10::Join("; ", changes);
  result.demand(found == known->second, c10::str(oracle, " asks for runs that change '", found, "', not '",
                                                 known->second, "'"));
}

}  // namespace ringcheck::parity
