// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/self_test.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <cmath>
#include <set>

#include "parity/judge/comparison.h"
#include "parity/judge/truth.h"

namespace ringcheck::parity {
namespace {

constexpr const char* kCases[] = {
    "ring:p2p/headtail/causal/P3/b2/hq4/hkv2/s37/d8/dv12",
    "ring:p2p/striped[2]/causal/P3/b2/hq4/hkv2/s31/d8/dv12/rope:half[10000]"};

// That with this name; nullptr where an outcome has none.
at::Tensor* find(Outcome& outcome, const std::string& name) {
  for (const auto& [known, tensor] : kTensors)
    if (name == known) return &(outcome.tensors.*tensor);
  if (name == "q") return &outcome.q_rotated;
  return name == "k" ? &outcome.k_rotated : nullptr;
}

at::Tensor& of(Outcome& outcome, const std::string& name) { return *find(outcome, name); }

Outcome solved(const Run& run) { return solve_on_threads(run, *ours()); }

// The same problem, attended in float32.
Outcome in_float32(Case test) {
  const at::ScalarType dtype = test.dtype;
  test.dtype = at::kFloat;
  return solved({test, [dtype](Case c, const Positions& positions) {
                   c.dtype = dtype;
                   Problem p = problem_of(c, positions);
                   for (at::Tensor* x : {&p.q, &p.k, &p.v, &p.d_o}) *x = x->to(at::kFloat);
                   return p;
                 }});
}

// What is known about one case.
struct Known {
  Case test;
  Problem problem;
  Outcome clean, before, other_seed, narrow;

  explicit Known(const Case& c) : test(c), problem(problem_of(c)), clean(solved({c})) {
    Case other = c;
    other.mask = Full{};
    before = solved({other});
    other = c;
    ++other.seed;
    other_seed = solved({other});
    if (c.dtype == at::kDouble) narrow = in_float32(c);
  }
};

struct Spoilt {
  std::string how;
  Outcome outcome;
  bool fine = false;  // only a comparison element by element can see it
};

Outcome with(const Known& known, const std::string& name, at::Tensor x) {
  Outcome outcome = known.clean;
  of(outcome, name) = std::move(x);
  return outcome;
}

// A token of every rank, one rank at a time.
void nan_on_each_rank(const Known& known, const std::string& name, const at::Tensor& right,
                      std::vector<Spoilt>& list) {
  const std::vector<Positions> layout = layout_of(known.test).queries;
  for (size_t rank = 0; rank < layout.size(); ++rank) {
    at::Tensor x = right.clone();
    x.select(2, layout[rank].at(0).begin).fill_(NAN);
    list.push_back({c10::str("NaN on rank ", rank), with(known, name, x)});
  }
}

// One element of which a bound is known, ten times as far away.
std::optional<Outcome> beyond_its_bound(const Known& known, const std::string& name) {
  reference::Judgement truth = truth_of(known.test, ours()->promise(known.test), known.problem, known.clean, [] {});
  Outcome bounds{std::move(truth.bound), {}, {}, {}}, clean = known.clean;
  const at::Tensor bound = of(bounds, name);
  if (!bound.defined()) return std::nullopt;
  at::Tensor x = of(clean, name).to(at::kDouble, false, true).contiguous();
  const int64_t where = bound.nan_to_num(0, 0, 0).argmax().item<int64_t>();
  x.view(-1)[where] += 10 * bound.contiguous().view(-1)[where];
  return with(known, name, x);
}

std::vector<Spoilt> spoilt(const Known& known, const std::string& name) {
  Outcome clean = known.clean, before = known.before, other_seed = known.other_seed,
          narrow = known.narrow;
  const at::Tensor right = of(clean, name);
  std::vector<Spoilt> list{
      {"zero", with(known, name, at::zeros_like(right))},
      {"constant", with(known, name, at::full_like(right, 0.5))},
      {"empty", with(known, name, right.narrow(2, 0, 0))},
      {"that of another seed", with(known, name, of(other_seed, name))}};
  if (name != "q" && name != "k")  // these do not depend on the mask
    list.push_back({"that of the case before", with(known, name, of(before, name))});
  nan_on_each_rank(known, name, right, list);
  if (narrow.tensors.o.defined())
    list.push_back(
        {"that of float32", with(known, name, of(narrow, name).to(right.scalar_type()))});
  if (auto moved = beyond_its_bound(known, name))
    list.push_back({"beyond its bound", std::move(*moved), true});
  return list;
}

class Examination {
 public:
  Examination(const Known& known, std::string name, const AskOracle& judge, SelfTest& result)
      : known_(known), name_(std::move(name)), oracle_(Oracles::at(name_)), judge_(judge),
        result_(result) {
    if (oracle_.variations)
      for (const Run& run : oracle_.variations(known.test)) others_.push_back(solved(run));
  }

  void run() {
    if (oracle_.variations && others_.empty()) return;
    const OracleVerdict claims = oracle_.judge(evidence(known_.clean));
    if (claims.status == Status::kNotApplicable) return;
    demand(judged(known_.clean) == Status::kPass, "refused a clean outcome");
    const std::set<std::string> names = passed(claims);
    if (oracle_.variations && !names.empty()) {
      spoil_all_runs(names);
    } else {
      for (const std::string& tensor : names) spoil(tensor);
    }
    if (claims.contract) spoil_counters();
  }

 private:
  Evidence evidence(const Outcome& outcome) const {
    return {known_.test, *ours(), known_.problem, outcome, others_, [] {}};
  }
  Status judged(const Outcome& outcome) const { return judge_(oracle_, evidence(outcome)).status; }
  void demand(bool met, const std::string& otherwise) {
    ++result_.demands;
    if (!met)
      result_.failures.push_back(c10::str(name_, " ", otherwise, " in ", to_text(known_.test)));
  }
  // The tensors that a verdict passes by name.
  static std::set<std::string> passed(const OracleVerdict& verdict) {
    std::set<std::string> names;
    Outcome any;
    for (const TensorVerdict& tensor : verdict.tensors)
      if (tensor.status == Status::kPass && find(any, tensor.tensor) != nullptr)
        names.insert(tensor.tensor);
    return names;
  }
  void spoil(const std::string& tensor) {
    for (const Spoilt& wrong : spoilt(known_, tensor))
      if (!wrong.fine || name_ == "parity")
        demand(judged(wrong.outcome) == Status::kFail,
               c10::str("accepted ", tensor, " replaced: ", wrong.how));
  }
  void spoil_all_runs(const std::set<std::string>& tensors) {
    Outcome main = known_.clean;
    std::vector<Outcome> others = others_;
    const auto spoil = [&](Outcome& outcome) {
      for (const std::string& tensor : tensors)
        of(outcome, tensor) = at::full_like(of(outcome, tensor), NAN);
    };
    spoil(main);
    std::ranges::for_each(others, spoil);
    const Evidence all{known_.test, *ours(), known_.problem, main, others, [] {}};
    demand(judge_(oracle_, all).status == Status::kFail, "accepted NaN in every run");
  }
  void spoil_counters() {
    Outcome wrong = known_.clean;
    wrong.ranks = known_.before.ranks;
    demand(judged(wrong) == Status::kFail, "accepted the counters of the case before");
    for (RankRecord& rank : wrong.ranks) {
      rank = {};
      rank.sent_to = rank.received_from = std::vector<int64_t>(wrong.ranks.size());
    }
    demand(judged(wrong) == Status::kFail, "accepted counters of zero");
  }

  const Known& known_;
  std::string name_;
  const Oracle& oracle_;
  const AskOracle& judge_;
  SelfTest& result_;
  std::vector<Outcome> others_;
};

}  // namespace

OracleVerdict judge_plainly(const Oracle& oracle, const Evidence& evidence) {
  return oracle.judge(evidence);
}

SelfTest self_test(at::ScalarType dtype, const std::vector<std::string>& oracles,
                   const AskOracle& judge) {
  SelfTest result;
  for (const char* text : kCases) {
    const Known known(parse_case(std::string(text) + "/" + dtype_text(dtype)));
    for (const std::string& name : oracles)
      if (text == kCases[0] || !Oracles::at(name).variations)
        Examination(known, name, judge, result).run();
  }
  return result;
}

}  // namespace ringcheck::parity
