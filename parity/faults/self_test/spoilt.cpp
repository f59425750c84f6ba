// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/self_test/spoilt.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <cmath>
#include <utility>

#include "parity/faults/self_test/plain_subject.h"
#include "parity/judge/comparison.h"
#include "parity/judge/truth.h"

namespace ringcheck::parity {
namespace {

using Seen = Spoilt::Seen;

Case with_another_mask(Case test) {
  if (std::holds_alternative<Full>(test.mask))
    test.mask = Causal{};
  else
    test.mask = Full{};
  return test;
}

Case with_another_seed(Case test) {
  ++test.seed;
  return test;
}

Outcome with(const Known& known, const std::string& name, at::Tensor x) {
  Outcome outcome = known.clean;
  *find(outcome, name) = std::move(x);
  return outcome;
}

// One element of which a bound is known, ten times as far away.
at::Tensor beyond_its_bound(const at::Tensor& right, const at::Tensor& bound) {
  const at::Tensor x = right.to(at::kDouble, false, true).contiguous();
  const int64_t where = bound.nan_to_num(0, 0, 0).argmax().item<int64_t>();
  x.view(-1)[where] += 10 * bound.contiguous().view(-1)[where];
  return x;
}

}  // namespace

Known::Known(const Case& c)
    : test(c),
      problem(problem_of(c)),
      clean(plain::answer({c})),
      before(plain::answer({with_another_mask(c)})),
      other_seed(plain::answer({with_another_seed(c)})) {
  if (random())
    bounds.tensors = truth_of(c, plain::subject().promise(c), problem, clean, [] {}).bound;
}

at::Tensor* find(Outcome& outcome, const std::string& name) {
  for (const auto& [known, tensor] : kTensors)
    if (name == known)
      return &(outcome.tensors.*tensor);
  if (name == "q")
    return &outcome.q_rotated;
  return name == "k" ? &outcome.k_rotated : nullptr;
}

std::vector<Spoilt> spoilt(const Known& known, const std::string& name) {
  Outcome clean = known.clean, before = known.before, other = known.other_seed,
          bounds = known.bounds;
  const at::Tensor right = *find(clean, name);
  std::vector<Spoilt> list;
  const auto replaced = [&](const std::string& how, const at::Tensor& x,
                            Seen seen = Seen::kAlways) {
    if (!same_values(x, right))
      list.push_back({how, with(known, name, x), seen});
  };
  replaced("zero", at::zeros_like(right));
  replaced("constant", at::full_like(right, 0.5));
  replaced("empty", right.narrow(2, 0, 0));
  const std::vector<Positions> layout = layout_of(known.test).queries;
  for (size_t rank = 0; rank < layout.size(); ++rank) {
    const at::Tensor x = right.clone();
    x.select(2, layout[rank].at(0).begin).fill_(NAN);
    replaced(c10::str("NaN on rank ", rank), x);
  }
  replaced("a number where it sees no key", right.masked_fill(right.isneginf(), -1e4));
  const at::Tensor last = right.clone();
  last.view(-1)[-1] = NAN;
  replaced("NaN in its last element", last);
  replaced("that of another seed", *find(other, name), Seen::kRandom);
  if (name != "q" && name != "k")  // these do not depend on the mask
    replaced("that of the case before", *find(before, name), Seen::kRandom);
  if (known.test.dtype == at::kDouble)
    replaced("that of float32", right.to(at::kFloat).to(at::kDouble), Seen::kClosely);
  if (const at::Tensor& bound = *find(bounds, name); bound.defined())
    replaced("beyond its bound", beyond_its_bound(right, bound), Seen::kClosely);
  return list;
}

std::vector<Miscounted> miscounted(const Outcome& clean) {
  std::vector<Miscounted> list;
  for (int rank = 0; rank < static_cast<int>(clean.ranks.size()); ++rank) {
    const auto off = [&](const std::string& what, const auto& counter, int64_t by) {
      Outcome wrong = clean;
      counter(wrong.ranks.at(rank)) += by;
      list.push_back({c10::str(what, " of rank ", rank, " off by ", by), rank, std::move(wrong)});
    };
    for (const auto& [in_pass, pass] : {std::pair("forward ", &RankCounts::forward), {"backward ", &RankCounts::backward}})
      for (const int64_t by : {int64_t{-1}, int64_t{1} << 40})  // less than is seen, more than tiles hold
        off(
            c10::str(in_pass, "pairs computed"), [pass = pass](RankRecord& r) -> int64_t& { return (r.*pass).computed; }, by);
    for (const int64_t by : {1, -1}) {
      for (const auto& [in_pass, pass] : {std::pair("forward ", &RankCounts::forward), {"backward ", &RankCounts::backward}})
        for (const auto& [name, counter] :
             {std::pair("bytes sent", &Counters::bytes_sent), {"bytes received", &Counters::bytes_received}, {"messages", &Counters::messages},
              {"pairs", &Counters::pairs}, {"FLOPs", &Counters::flops}, {"steps", &Counters::steps}, {"messages that nobody waits for", &Counters::unwaited}})
          off(
              c10::str(in_pass, name), [&, pass = pass, counter = counter](RankRecord& r) -> int64_t& { return r.*pass.*counter; }, by);
      for (Counters RankCounts::*pass : {&RankCounts::forward, &RankCounts::backward})
        off(
            "the steps while a message is under way",
            [=](RankRecord& r) -> int64_t& { return (r.*pass).overlapped.value(); }, by);
      for (std::vector<int64_t> RankCounts::*heads : {&RankCounts::forward_heads, &RankCounts::backward_heads})
        for (size_t head = 0; head < (clean.ranks.at(rank).*heads).size(); ++head)
          off(
              "the pairs of a head", [=](RankRecord& r) -> int64_t& { return (r.*heads).at(head); }, by);
      for (const auto& [name, counter] : {std::pair("bytes sent", &RankCounts::bytes_sent), {"bytes received", &RankCounts::bytes_received},
                                          {"messages", &RankCounts::messages}})
        off(
            c10::str(name, " in all"), [counter = counter](RankRecord& r) -> int64_t& { return r.*counter; }, by);
      for (Stock RankCounts::*stock : {&RankCounts::forward_stock, &RankCounts::backward_stock})
        for (int64_t Stock::*held : {&Stock::attending, &Stock::after})
          off(
              "the bytes held", [=](RankRecord& r) -> int64_t& { return r.*stock.*held; }, by);
      off(
          "the merges", [](RankRecord& r) -> int64_t& { return r.forward.merges; }, by);
      off(
          "the K and V held", [](RankRecord& r) -> int64_t& { return r.kv_bytes; }, by);
      off(
          "the bytes held of the dK and dV that travel home", [](RankRecord& r) -> int64_t& { return r.traveller_bytes; }, by);
      for (size_t peer = 0; peer < clean.ranks.size(); ++peer) {
        off(
            c10::str("the bytes sent to rank ", peer),
            [=](RankRecord& r) -> int64_t& { return r.sent_to.at(peer); }, by);
        off(
            c10::str("the bytes received from rank ", peer),
            [=](RankRecord& r) -> int64_t& { return r.received_from.at(peer); }, by);
      }
    }
  }
  return list;
}

}  // namespace ringcheck::parity
