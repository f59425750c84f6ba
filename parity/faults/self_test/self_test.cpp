// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/self_test/self_test.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "parity/faults/self_test/known_relations.h"
#include "parity/faults/self_test/plain_subject.h"
#include "parity/faults/self_test/spoilt.h"
#include "parity/judge/comparison.h"

namespace ringcheck::parity {
namespace {

// An oracle is examined in the first of them of which it has something to say. As small as can be:
// all of it comes before every run.
constexpr const char* kCases[] = {
    "causal/P3/b3/hq6/hkv3/s15/d4/dv6",        "causal/P3/b1/hq2/hkv1/s15/d4/dv4/rope:half[100]",
    "census/doc[4,3:5,6]/P3/b1/hq2/hkv1/s15/d4/dv4", "routing/causal/P3/b1/hq2/hkv1/s15/d8/dv4",
    "ones/causal/P3/b1/hq2/hkv1/s15/d4/dv4",   "equal-keys/causal/P3/b1/hq2/hkv1/s15/d4/dv4",
    "causal/P8/b1/hq1/hkv1/s16/d4/dv4"};
constexpr const char* kIn16Bits = "snap/full/P2/b1/hq2/hkv1/s16/d4/dv4/scale:0.5/bf16";

// The further runs that an oracle asks for. There may be no second device here to begin at.
std::vector<Run> further_runs(const std::string& name, const Case& test) {
  if (name != "device-order")
    return Oracles::at(name).variations(test);
  Run run{test};
  run.first_device = 1;
  return {run};
}

class Examination {
 public:
  Examination(const Known& known, std::string name, const AskOracle& judge, SelfTest& result)
      : known_(known),
        name_(std::move(name)),
        oracle_(Oracles::at(name_)),
        judge_(judge),
        result_(result) {
    if (oracle_.variations)
      runs_ = further_runs(name_, known.test);
    for (const Run& run : runs_)
      others_.push_back(plain::answer(run));
  }

  // False where the oracle has nothing to say of the case.
  bool run() {
    if (oracle_.variations && others_.empty())
      return false;
    const OracleVerdict claims = oracle_.judge(evidence(known_.clean));
    if (claims.status == Status::kNotApplicable)
      return false;
    const OracleVerdict clean = judge_(oracle_, evidence(known_.clean));
    demand(clean.status == Status::kPass, "refused a clean outcome");
    look_everywhere(clean);
    if (oracle_.variations)
      examine_relation(name_, runs_, known_.test, known_.problem, clean, result_);
    const std::set<std::string> names = passed(claims);
    examine_claims(name_, names, result_);
    if (claims.contract)
      miscount();
    else if (name_ == "leak")
      leak(), examine_growth(result_);
    else if (name_ == "memory-growth")
      outgrow();
    else if (name_ == "returned")
      lose();
    else if (oracle_.variations)
      look_at_runs(names);
    else if (name_ == "conservation")
      spoil(kTogether, Spoilt::Seen::kRandom);
    else  // one that names no tensor is asked for no more than not to refuse what is right
      spoil(names, Spoilt::Seen::kClosely);
    return true;
  }

 private:
  // What is judged together by oracles that name no tensor.
  inline static const std::set<std::string> kTogether{"o", "dq", "dk", "dv"};

  Evidence evidence(const Outcome& outcome) const {
    return {known_.test, plain::subject(), known_.problem, outcome, others_, [] {}};
  }
  Status judged(const Outcome& outcome) const { return judge_(oracle_, evidence(outcome)).status; }
  void demand(bool met, const std::string& otherwise) const {
    result_.demand(met, c10::str(name_, " ", otherwise, " in ", to_text(known_.test)));
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
  // As closely as is asked, but with data of which the answer is known in advance.
  void spoil(const std::set<std::string>& tensors, Spoilt::Seen closest) const {
    if (!known_.random())
      closest = Spoilt::Seen::kAlways;
    for (const std::string& tensor : tensors)
      for (const Spoilt& wrong : spoilt(known_, tensor))
        if (wrong.seen <= closest)
          demand(judged(wrong.outcome) == Status::kFail,
                 c10::str("accepted ", tensor, " replaced: ", wrong.how));
    for (size_t rank = 0; name_ == "parity" && rank < known_.clean.ranks.size(); ++rank)
      for (size_t tensor = 0; tensor < known_.clean.ranks[rank].wrong_pads.size(); ++tensor) {
        Outcome padded = known_.clean;
        padded.ranks[rank].wrong_pads[tensor] = 1;
        demand(judged(padded) == Status::kFail, c10::str("accepted a pad of rank ", rank, " that holds something"));
      }
  }
  void look_at_runs(const std::set<std::string>& names) const {
    if (name_ == "device-order")
      move_a_bit(names);
    disturb_runs(names);
    bind_to_places();
    spoil_runs(names.empty() ? kTogether : names);
  }
  void spoil_runs(const std::set<std::string>& tensors) const {
    const auto all_nan = [&](Outcome outcome) {
      for (const std::string& tensor : tensors)
        *find(outcome, tensor) = at::full_like(*find(outcome, tensor), NAN);
      return outcome;
    };
    std::vector<Outcome> others;
    for (const Outcome& other : others_)
      others.push_back(all_nan(other));
    const Outcome main = all_nan(known_.clean);
    const Evidence all{known_.test, plain::subject(), known_.problem, main, others, [] {}};
    demand(judge_(oracle_, all).status == Status::kFail, "accepted NaN in every run");
  }
  void move_a_bit(const std::set<std::string>& tensors) const {
    for (const std::string& tensor : tensors) {
      std::vector<Outcome> others = others_;
      at::Tensor& x = *find(others.back(), tensor);
      x = x.clone();
      at::Tensor last = x.view(-1)[-1];
      last.copy_(last.nextafter(at::full_like(last, 1e3)));
      const Evidence moved{known_.test, plain::subject(), known_.problem, known_.clean, others, [] {}};
      demand(judge_(oracle_, moved).status == Status::kFail,
             "accepted another last bit of " + tensor);
    }
  }
  // Each tensor that is claimed is compared in every element, or at so many positions.
  void look_everywhere(const OracleVerdict& claims) const {
    for (const TensorVerdict& tensor : claims.tensors)
      if (Outcome clean = known_.clean; const at::Tensor* x = find(clean, tensor.tensor)) {
        const int64_t due = x->numel() / x->size(2) * positions_compared(name_, x->size(2));
        demand(tensor.compared == due, c10::str("compared ", tensor.compared, " elements of ",
                                                tensor.tensor, " and not ", due));
      }
  }
  // One tensor of one further run as float32 rounds it: by far more than its bounds, and far less
  // than itself. In other dtypes, and where whole runs are summed up, its signs.
  at::Tensor disturbed(const at::Tensor& x, bool element_by_element) const {
    if (name_ == "visible-nan")
      return x.nan_to_num();
    return element_by_element && x.scalar_type() == at::kDouble
               ? x.to(at::kFloat).to(at::kDouble)
               : at::where(x == 0, at::ones_like(x), -x);
  }
  void disturb_runs(const std::set<std::string>& names) const {
    for (size_t run = 0; run < others_.size(); ++run)
      for (const std::string& tensor : names.empty() ? std::set<std::string>{"o"} : names) {
        std::vector<Outcome> others = others_;
        at::Tensor& x = *find(others[run], tensor);
        const at::Tensor right = x;
        for (const at::Tensor& wrong : {disturbed(right, !names.empty()), at::zeros_like(right)}) {
          x = wrong;
          if (same_values(x, right) || (name_ == "visible-nan" && !right.isnan().any().item<bool>()))
            continue;
          demand(judge_(oracle_, {known_.test, plain::subject(), known_.problem, known_.clean, others, [] {}})
                         .status == Status::kFail,
                 c10::str("accepted another ", tensor, " of further run ", run));
        }
      }
  }
  // What is wrong at one place, whatever is there, is not what is wrong where the relation moves it to.
  void bind_to_places() const {
    static const std::map<std::string, std::vector<std::pair<std::string, int64_t>>> dimensions{
        {"head-order", {{"o", 0}, {"o", 1}, {"dk", 0}, {"dk", 1}}},
        {"channel-order", {{"o", 3}, {"dk", 3}}},
        {"query-order", {{"o", 2}, {"dq", 2}}},
        {"key-order", {{"dv", 2}}}};
    const auto found = dimensions.find(name_);
    if (found == dimensions.end())
      return;
    for (const auto& [tensor, dimension] : found->second) {
      const auto wrong = [&, name = tensor, d = dimension](Outcome outcome) {
        at::Tensor& x = *find(outcome, name);
        x = x.clone();
        x.select(d, 0).add_(1);
        return outcome;
      };
      std::vector<Outcome> others;
      std::ranges::transform(others_, std::back_inserter(others), wrong);
      const Outcome main = wrong(known_.clean);
      demand(judge_(oracle_, {known_.test, plain::subject(), known_.problem, main, others, [] {}}).status ==
                 Status::kFail,
             c10::str("accepted a ", tensor, " that is wrong at the first place of dimension ", dimension));
    }
  }
  // Beyond what its strategy holds more of.
  void outgrow() const {
    for (size_t rank = 0; rank < known_.clean.ranks.size(); ++rank) {
      Outcome wrong = known_.clean;
      wrong.ranks[rank].peak_bytes += int64_t{1} << 40;
      demand(judged(wrong) == Status::kFail,
             c10::str("accepted that rank ", rank, " needs more on more ranks"));
    }
  }
  void leak() const {
    for (size_t rank = 0; rank < others_.front().ranks.size(); ++rank) {
      std::vector<Outcome> others = others_;
      others.front().ranks[rank].grown_bytes = 8;
      const Evidence grown{known_.test, plain::subject(), known_.problem, known_.clean, others, [] {}};
      demand(judge_(oracle_, grown).status == Status::kFail, c10::str("accepted that rank ", rank, " holds more"));
    }
  }
  void lose() const {
    for (size_t rank = 0; rank < known_.clean.ranks.size(); ++rank)
      for (const NamedTensor& named : kTensors) {
        Outcome wrong = known_.clean;
        wrong.missing = {c10::str("rank ", rank, ": ", named.name)};
        demand(judged(wrong) == Status::kFail, "accepted that a tensor is missing");
      }
  }
  void miscount() const {
    for (const Miscounted& wrong : miscounted(known_.clean)) {
      const OracleVerdict verdict = judge_(oracle_, evidence(wrong.outcome));
      const std::string rank = c10::str("rank ", wrong.rank, " ");
      const auto names_it = [&](const std::string& finding) { return finding.starts_with(rank); };
      demand(verdict.status == Status::kFail, "accepted " + wrong.how);
      demand(std::ranges::any_of(verdict.findings, names_it), "did not name the rank of " + wrong.how);
    }
    Outcome wrong = known_.clean;
    wrong.ranks = known_.before.ranks;
    demand(oracle_.variations || judged(wrong) == Status::kFail,
           "accepted the counters of the case before");
    wrong.ranks = known_.clean.ranks;
    for (size_t rank = 0; rank < wrong.ranks.size(); ++rank) {
      wrong.ranks = known_.clean.ranks;
      wrong.ranks[rank].peak_bytes += int64_t{1} << 40;
      demand(oracle_.variations || judged(wrong) == Status::kFail, c10::str("accepted a peak of rank ", rank, " without a limit"));
      for (Stock RankCounts::*stock : {&RankCounts::forward_stock, &RankCounts::backward_stock})
        for (size_t stage = 0; stage < kStages; ++stage) {
          wrong.ranks = known_.clean.ranks;
          (wrong.ranks[rank].*stock).peaks[stage] += int64_t{1} << 40;
          demand(oracle_.variations || judged(wrong) == Status::kFail,
                 c10::str("accepted a stage of rank ", rank, " without a limit"));
        }
    }
  }

  const Known& known_;
  std::string name_;
  const Oracle& oracle_;
  const AskOracle& judge_;
  SelfTest& result_;
  std::vector<Run> runs_;
  std::vector<Outcome> others_;
};

}  // namespace

OracleVerdict judge_plainly(const Oracle& oracle, const Evidence& evidence) {
  return oracle.judge(evidence);
}

SelfTest self_test(at::ScalarType dtype, const std::vector<std::string>& oracles,
                   const AskOracle& judge) {
  SelfTest result;
  std::vector<std::string> silent = oracles;
  const auto examine = [&](const std::string& text) {
    if (silent.empty())
      return;
    const Known known(parse_case(text));
    std::erase_if(silent, [&](const std::string& name) {
      return Examination(known, name, judge, result).run();
    });
  };
  for (const char* text : kCases)
    examine(std::string(text) + "/" + dtype_text(dtype));
  examine(kIn16Bits);
  if (dtype == at::kDouble)  // of which all have something to say
    for (const std::string& name : silent)
      result.demand(false, name + " has nothing to say of any case that is known");
  return result;
}

}  // namespace ringcheck::parity
