// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/self_test/known_relations.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace ringcheck::parity {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, at);)
    words.push_back(word);
  return words;
}

// In what a further run differs from the run of a case: parts of the case, which of q, k, v and dO, and
// how the subject is called.
std::set<std::string> what_changes(const Run& run, const Case& test, const Problem& problem) {
  const std::vector<std::string> now = split(to_text(run.test), '/'), before = split(to_text(test), '/');
  std::set<std::string> words(now.begin(), now.end());
  for (const std::string& part : before)
    words.erase(part);
  const Problem other = run.problem(run.test, {{0, run.test.seq}});
  for (const auto& [name, tensor] : {std::pair{"q", &Problem::q}, {"k", &Problem::k},
                                     {"v", &Problem::v}, {"dO", &Problem::d_o}})
    if (!same_values(other.*tensor, problem.*tensor))
      words.insert(name);
  const std::pair<bool, const char*> around[] = {
      {static_cast<bool>(run.meanwhile), "meanwhile"}, {run.by_autograd, "autograd"},
      {run.layout.has_value(), "layout"},              {run.in_other_group, "group"},
      {static_cast<bool>(run.surroundings), "around"}, {run.calls > 1, "calls"},
      {run.first_device != 0, "device"}};
  for (const auto& [is, word] : around)
    if (is)
      words.insert(word);
  return words;
}

// All of these words; others may be of parts of a case that somebody has added.
bool are_among(const std::string& words, const std::set<std::string>& changes) {
  return std::ranges::all_of(split(words, ' '), [&](const std::string& word) {
    return word.empty() || changes.contains(word);
  });
}

bool change(const std::vector<Run>& runs, const std::string& due, const Case& test,
            const Problem& problem) {
  const std::vector<std::string> words = split(due + ";", ';');
  bool all = words.size() == runs.size();
  for (size_t i = 0; all && i < runs.size(); ++i)
    all = are_among(words[i], what_changes(runs[i], test, problem));
  return all;
}

constexpr const char* kAll = "dk dq dv lse o";
constexpr const char* kOfMembers = nullptr;  // what there is, ours or others'

// What a relation is known to ask for and to look at. `changes` is of causal/P3/b2/hq4/hkv2/s15/d4/dv6,
// of the case with RoPE, or of that with 8 ranks; `tensors` are those that its verdict speaks of.
struct Known {
  const char* changes;
  const char* tensors = kAll;
  int64_t positions = 0;  // of the 15 that it compares; 0: all
};
const std::map<std::string, Known> kRelations{
    {"adjoint", {"v", ""}},
    {"allocation-history", {"around"}},
    {"autograd", {"autograd calls"}},
    {"balancers", {kOfMembers}},
    {"causality", {"k v", "dq lse o", 7}},
    {"channel-order", {"q k v dO"}},
    {"delays", {"around"}},
    {"device-order", {"device"}},
    {"difference-quotient", {"q k v; q k v; q k v; q k v", ""}},
    {"extremes", {"q dO; q k dO; k"}},
    {"gradient-causality", {"q dO", "dk dv", 8}},
    {"gradient-scale", {"dO"}},
    {"groups", {"group"}},
    {"head-order", {"q k v dO"}},
    {"key-order", {"k v"}},
    {"key-shift", {"k; k", "dk dv lse o"}},
    {"larger-batch", {"b4 hq8 hkv4 q k v dO"}},
    {"layouts", {"layout; layout; layout"}},
    {"leak", {"calls", ""}},
    {"memory-growth", {"P4 s8 q k v dO", ""}},
    {"other-values", {"seed2 q k v dO", ""}},
    {"pads", {"; "}},  // what pads hold
    {"poison", {"around; around"}},
    {"position-shift", {"window[5]; window[5] q k v dO", "lse o", 6}},
    {"prefix", {"s10 q k v dO", "lse o", 10}},
    {"query-order", {"dO"}},
    {"repeated-heads", {"hkv6 k v"}},
    {"repetition", {"; calls"}},
    {"rope-shards", {"P1", "k q"}},
    {"rotations", {kOfMembers}},
    {"run-to-run", {"; ; ; "}},
    {"saved-state", {"meanwhile"}},
    {"scale-in-query", {"scale:0.125 q"}},
    {"score-scale", {"q k"}},
    {"splitting", {"q k; q k; q k", "lse o"}},
    {"strides", {"; "}},
    {"value-scale", {"v"}},
    {"value-sum", {"v; v; v", "dk dq o"}},
    {"visible-nan", {"v; dO", "dv o"}},
    {"worlds", {"P2"}}};

}  // namespace

bool is_known_relation(const std::string& oracle) { return kRelations.contains(oracle); }

int64_t positions_compared(const std::string& oracle, int64_t all) {
  const auto known = kRelations.find(oracle);
  return known == kRelations.end() || known->second.positions == 0 ? all : known->second.positions;
}

void examine_relation(const std::string& oracle, const std::vector<Run>& runs, const Case& test,
                      const Problem& problem, const OracleVerdict& clean, SelfTest& result) {
  const auto known = kRelations.find(oracle);
  if (known == kRelations.end())
    return;
  std::set<std::string> names;
  for (const TensorVerdict& tensor : clean.tensors)
    names.insert(tensor.tensor);
  const std::string found = c10::Join(" ", names);
  result.demand(found == known->second.tensors,
                c10::str(oracle, " speaks of '", found, "', not of '", known->second.tensors, "'"));
  const char* due = known->second.changes;
  if (due != kOfMembers && test.dtype == at::kDouble)
    result.demand(change(runs, due, test, problem),
                  c10::str(oracle, " asks for other runs than those that change '", due, "'"));
  if (test.dtype == at::kDouble)
    examine_runs(oracle, runs, test, result);
}

}  // namespace ringcheck::parity
