// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <cctype>
#include <cmath>

#include "cp/shard.h"
#include "parity/conservation.h"
#include "parity/oracle.h"
#include "parity/reference_rope.h"
#include "reference/rope.h"

namespace ringcheck::parity {
namespace {

bool has_rope(const Case& test) { return test.rope.pairing != Rope::Pairing::kNone; }

// C2 holds where q and k were multiplied: without RoPE, or where the subject shows them rotated.
bool in_frame(const Evidence& evidence) {
  return !has_rope(evidence.test) || evidence.outcome.q_rotated.defined();
}

// The whole sequence. Where the subject shows rotated q and k, its gradients are turned into their
// frame; otherwise all stay unrotated, where C1, C3 and C4 hold as well: rotations keep products.
AttentionShard whole(const Evidence& evidence) {
  const Outcome& outcome = evidence.outcome;
  const Mask mask = mask_of(evidence.test);
  const auto tokens = [&](const at::Tensor& x) {
    return zero_pads(x, mask, {{0, evidence.test.seq}});
  };
  const bool turn = has_rope(evidence.test) && in_frame(evidence);
  const auto turned = [&](const at::Tensor& gradient) {
    return turn ? reference::rotate(gradient.to(at::kDouble), mask, reference_rope(evidence.test))
                : gradient;
  };
  return {tokens(turn ? outcome.q_rotated : evidence.problem.q),
          tokens(evidence.problem.d_o),
          outcome.tensors.o,
          turned(outcome.tensors.dq),
          tokens(turn ? outcome.k_rotated : evidence.problem.k),
          tokens(evidence.problem.v),
          turned(outcome.tensors.dk),
          outcome.tensors.dv,
          {}};  // every token sees itself: the queries that see no key are pad slots
}

AttentionShard of_rank(const AttentionShard& x, const Positions& own) {
  const auto slots = [&](const at::Tensor& t) { return shard(t, 2, own); };
  return {slots(x.q), slots(x.d_o), slots(x.o), slots(x.dq), slots(x.k),
          slots(x.v), slots(x.dk),  slots(x.dv), {}};
}

// Turning back and forth costs some units of the accumulation type; a float64 angle is as exact as
// its frequency, whose error the position multiplies.
Arithmetic arithmetic_of(const Evidence& evidence) {
  const Case& test = evidence.test;
  Arithmetic how{contract_of(test), scale_of(test), test.world, in_frame(evidence)};
  if (has_rope(test))
    how.contract.u_o += how.contract.u_a * (8 + (test.dtype == at::kDouble ? 16.0 * test.seq : 0));
  return how;
}

// What a rank gives away by itself: the laws hold over all ranks together only.
std::vector<std::string> suspects(int rank, const ConservationSums& sums) {
  std::vector<std::string> found;
  const auto suspect = [&](const char* tensor, const at::Tensor& squares, bool expected) {
    const double size = squares.sum().item<double>();
    if (!std::isfinite(size))
      found.push_back(c10::str("rank ", rank, ": ", tensor, " is not finite"));
    else if (size == 0 && expected)
      found.push_back(c10::str("rank ", rank, ": ", tensor, " is zero everywhere"));
  };
  const bool asked = sums.d_o_squares.sum().item<double>() > 0;
  suspect("o", sums.do_o_squares, asked);
  suspect("dq", sums.dq_q_squares, asked);
  suspect("dk", sums.dk_squares, asked);
  suspect("dv", sums.dv_squares, asked);
  return found;
}

TensorVerdict row_of(const LawVerdict& law) {
  TensorVerdict row;
  row.tensor = law.law;
  row.tensor[0] = static_cast<char>(std::tolower(row.tensor[0]));
  row.status = law.status == Status::kInconclusive ? Status::kNotApplicable : law.status;
  row.max_abs = std::abs(law.difference);
  row.max_z = law.z;
  if (law.status == Status::kFail) row.worst = law.text();
  return row;
}

void judge_laws(const Evidence& evidence, OracleVerdict& verdict) {
  const AttentionShard all = whole(evidence);
  const Layout layout = layout_of(evidence.test);
  ConservationSums sums;
  std::vector<std::string> localised;
  for (int rank = 0; rank < evidence.test.world; ++rank) {
    evidence.tick();
    const ConservationSums own = conservation_sums(of_rank(all, layout[rank]));
    for (std::string& finding : suspects(rank, own)) localised.push_back(std::move(finding));
    sums = sums + own;
  }
  for (const LawVerdict& law : judge_conservation(sums, arithmetic_of(evidence))) {
    TensorVerdict row = row_of(law);
    if (row.status == Status::kFail) verdict.findings.push_back(row.worst);
    if (row.status == Status::kPass && verdict.status == Status::kNotApplicable)
      verdict.status = Status::kPass;
    verdict.tensors.push_back(std::move(row));
  }
  if (verdict.findings.empty()) return;
  verdict.status = Status::kFail;
  verdict.findings.insert(verdict.findings.end(), localised.begin(), localised.end());
}

OracleVerdict judge(const Evidence& evidence) {
  const reference::Tensors& found = evidence.outcome.tensors;
  OracleVerdict verdict;
  verdict.status = Status::kNotApplicable;
  for (const at::Tensor* tensor : {&found.o, &found.dq, &found.dk, &found.dv})
    if (!tensor->defined()) return verdict;
  try {
    judge_laws(evidence, verdict);
  } catch (const std::invalid_argument& error) {  // shapes that do not belong together
    verdict.status = Status::kFail;
    verdict.findings = {error.what()};
  }
  return verdict;
}

const Oracles::Add registered{
    "conservation",
    {"sums of dV, dK, dQ q, dK k, dV v and dO O agree as attention demands, without a reference",
     judge}};

}  // namespace
}  // namespace ringcheck::parity
