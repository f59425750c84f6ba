// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "parity/faults/self_test/plain_subject.h"
#include "parity/faults/self_test/self_test.h"
#include "parity/faults/self_test/spoilt.h"
#include "parity/judge/conservation/conservation_evidence.h"
#include "parity/judge/expected/expected.h"
#include "parity/judge/judged.h"
#include "parity/judge/rotated.h"
#include "parity/judge/truth.h"
#include "parity/subject/checks/pads.h"

namespace ringcheck::parity {
namespace {

constexpr const char* kTurned = "causal/P3/b1/hq2/hkv1/s15/d4/dv4/rope:half[100]/float64";

Status status_of(const Known& known, const std::vector<std::string>& oracles, Observed observed) {
  return judged({known.test, plain::subject(), oracles}, known.problem, observed).status;
}

// Whatever is asked: what a further run says it attended, what the case does, and what is missing.
void examine_what_joins(SelfTest& result) {
  const Known known(parse_case(kTurned));
  const auto relation = std::ranges::find_if(Oracles::all(), [&](const auto& one) {
    return one.second.variations && !one.second.demand.unmet(plain::subject().promise(known.test)) &&
           !one.second.variations(known.test).empty();
  });
  const std::string& name = relation->first;
  const std::vector<Run> runs = relation->second.variations(known.test);
  Observed clean{known.clean, {}, {}, {}};
  for (const Run& run : runs) clean.variations[name].push_back(plain::answer(run));
  result.demand(status_of(known, {name}, clean) != Status::kFail, name + " refuses right further runs");
  for (size_t run = 0; run < runs.size(); ++run) {
    Observed wrong = clean;
    Outcome& its = wrong.variations[name][run];
    its.k_rotated = its.k_rotated + 1;
    result.demand(status_of(known, {name}, wrong) == Status::kFail, c10::str("the k that further run ", run, " of ", name, " attended is believed"));
  }
  Observed turned = clean, missing = clean;
  turned.outcome.k_rotated = turned.outcome.k_rotated + 1;
  missing.outcome.missing = {"rank 2: dv"};
  result.demand(status_of(known, {"parity"}, turned) == Status::kFail, "the k that a case attended is believed");
  result.demand(status_of(known, {"parity"}, missing) == Status::kFail, "a tensor that is missing is not missed");
}

// A turned element may be off by 8 units and what its angle is, of both of its pair. That this is what the formula gives
// is the business of property_tests/parity.
void examine_turning(SelfTest& result) {
  constexpr double kUnits = 400, kBounds[] = {39.3375, 22.7393};  // so far off, and how many bounds that is, of q and of k
  const Known known(parse_case(kTurned));
  const Promise promise = plain::subject().promise(known.test);
  for (size_t i = 0; i < 2; ++i) {
    Outcome wrong = known.clean;
    at::Tensor& rotated = i == 0 ? wrong.q_rotated : wrong.k_rotated;
    rotated = rotated.clone();
    const at::Tensor pair = rotated[0][0][7];
    pair[0].add_(kUnits * 0x1p-53 * pair.abs().sum());
    const TensorVerdict verdict = judge_rotated(known.test, promise, known.problem, wrong).at(i);
    result.demand(verdict.status == Status::kFail && std::abs(verdict.hard_ratio - kBounds[i]) <= 0.01 * kBounds[i],
                  c10::str("a rotated ", verdict.tensor, " that is ", kUnits, " units off is so by ", verdict.hard_ratio, " of its bounds, not ", kBounds[i]));
  }
}

// Promises arithmetic so rough that nothing can be said of O.
class Rough final : public Subject {
 public:
  std::optional<std::string> refuses(const Case&) const override { return std::nullopt; }
  Promise promise(const Case& test) const override {
    Promise promise = plain::subject().promise(test);
    promise.contract.u_o = 1;
    return promise;
  }
  RankOutput run(Communicator&, const Case&, const RankInput&) const override { throw std::logic_error("plain loops answer for no rank"); }
};

// A data family has no signal in some tensors alone: of the others it is inconclusive that a zero would pass.
void examine_silence(SelfTest& result) {
  const Known known(parse_case("equal-keys/causal/P3/b1/hq2/hkv1/s15/d4/dv4/float32"));
  const Rough rough;
  const Verdict verdict = judged({known.test, rough, {"parity"}}, known.problem, {known.clean, {}, {}, {}});
  for (const TensorVerdict& tensor : verdict.oracles.at(0).tensors)
    if (tensor.tensor == "o")
      result.demand(tensor.status == Status::kInconclusive, "an O that a zero would pass for is " + to_text(tensor.status));
}

// Each law on both sides of its limit.
void examine_conservation(SelfTest& result) {
  const Known known(parse_case("causal/P3/b2/hq4/hkv2/s15/d4/dv6/float32"));
  const Arithmetic how = arithmetic_of(known.test, plain::subject().promise(known.test), known.clean);
  const ConservationSums sums = sums_of_slots(attention_of(known.test, known.problem, known.clean), {{0, known.test.seq}});
  const std::vector<Law> laws = laws_of(sums, how);
  constexpr at::Tensor ConservationSums::*kMoved[] = {&ConservationSums::dv, &ConservationSums::dk, &ConservationSums::dq_q,
                                                      &ConservationSums::dv_v};
  for (size_t law = 0; law < laws.size(); ++law)
    for (const double sigmas : {7.0, -7.0, 9.0, -9.0}) {
      ConservationSums moved = sums;
      at::Tensor& sum = moved.*kMoved[law];
      sum = sum.clone();
      sum[0][0][0] += sigmas * laws[law].variance[0][0][0].sqrt() - laws[law].difference[0][0][0];
      const bool fails = judge_conservation(moved, how)[law].status == Status::kFail;
      result.demand(fails == (std::abs(sigmas) > 8), c10::str(laws[law].name, " is held otherwise than to 8 sigma, at ", sigmas));
    }
}

// Entries of a third length, and later ones, are judged like the first.
void examine_entries(SelfTest& result) {
  const Known known(parse_case("causal/P3/lengths:15+9+4/hq2/hkv1/d4/dv4/float64"));
  Outcome right = known.clean;
  right.tensors = truth_of(known.test, plain::subject().promise(known.test), known.problem, known.clean, [] {}).value;
  result.demand(status_of(known, {"parity"}, {right, {}, {}, {}}) == Status::kPass, "a batch whose entries differ in length is refused, and is right");
  for (int64_t entry = 0; entry < 3; ++entry) {
    Observed wrong{right, {}, {}, {}};
    at::Tensor& o = wrong.outcome.tensors.o;
    o = o.clone();
    o[entry][1][2].add_(1);
    result.demand(status_of(known, {"parity"}, wrong) == Status::kFail,
                  c10::str("O of batch entry ", entry, " is believed, and is wrong, where entries differ in length"));
  }
}

// Everything that pads hold is counted: behind the end of the sequence, within it, and of each entry of its own length.
void examine_pads(SelfTest& result) {
  for (const char* text : {"ring:p2p/striped[2]/causal/P3/b2/hq4/hkv2/s37/d4/dv6/float32",
                           "ring:p2p/headtail/doc[5,3:5,2]/P2/b1/hq2/hkv1/d4/dv4/float32",
                           "ring:p2p/contiguous/causal/P3/lengths:15+9+4/hq4/hkv2/d4/dv6/float32"}) {
    const Case test = parse_case(text);
    const std::vector<Positions> shards = layout_of(test).queries;
    for (int rank = 0; rank < test.world; ++rank) {
      const int64_t slots = count(shards[rank]), pads = pads_of_rank(test, rank) * (test.lengths.empty() ? test.batch : 1);
      const auto ones = [&](int64_t heads, int64_t dim) { return at::ones({test.batch, heads, slots, dim}); };
      RankOutput output;
      output.o = ones(test.q_heads, test.dim_v);
      output.lse = ones(test.q_heads, 1).squeeze(3);
      output.dq = ones(test.q_heads, test.dim);
      output.dk = ones(test.kv_heads, test.dim);
      output.dv = ones(test.kv_heads, test.dim_v);
      const WrongPads due{pads * test.q_heads * test.dim_v, pads * test.q_heads, pads * test.q_heads * test.dim,
                          pads * test.kv_heads * test.dim, pads * test.kv_heads * test.dim_v};
      result.demand(wrong_pads(test, shards[rank], shards[rank], output) == due,
                    c10::str("not all that the pads of rank ", rank, " hold is counted in ", text));
    }
  }
}

}  // namespace

void examine_judged(SelfTest& result) {
  examine_what_joins(result);
  examine_turning(result);
  examine_silence(result);
  examine_conservation(result);
  examine_entries(result);
  examine_pads(result);
  examine_meters(result);
  examine_data(result);
  examine_promises(result);
  examine_refusals(result);
  const at::Tensor spread = spread_of_lse(parse_case("equal-keys/causal/P1/hq1/hkv1/s9/d4"), 0, {0, 3, 8});
  result.demand(spread.equal(at::tensor({1.0, 2.0, 3.0}, at::kDouble)), "LSE of what rounds alike is held to another spread");
}

}  // namespace ringcheck::parity
