// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/conservation/shares.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cmath>

#include "parity/judge/comparison.h"

namespace ringcheck::parity {
namespace {

// 1 for each part whose differences are not finite, together.
std::vector<double> not_finite(const std::vector<at::Tensor>& differences) {
  std::vector<double> shares;
  double count = 0;
  for (const at::Tensor& own : differences) {
    shares.push_back(own.isfinite().all().item<bool>() ? 0 : 1);
    count += shares.back();
  }
  if (count == 0) return {};
  for (double& share : shares) share /= count;
  return shares;
}

}  // namespace

ConservationSums sum(const Parts& parts) {
  ConservationSums all;
  for (const ConservationSums& part : parts) all = all + part;
  return all;
}

std::vector<double> shares_of(size_t law, const Parts& parts, const Arithmetic& how) {
  const Law whole = laws_of(sum(parts), how)[law];
  std::vector<at::Tensor> differences;
  for (const ConservationSums& part : parts)
    differences.push_back(laws_of(part, how)[law].difference);
  if (auto shares = not_finite(differences); !shares.empty()) return shares;
  const at::Tensor z = whole.difference / whole.variance.sqrt();
  const at::Tensor weight =
      at::where(z.abs().gt(kStat), whole.difference / whole.variance, 0.0).nan_to_num(0, 0, 0);
  const double size = (weight * whole.difference).sum().item<double>();
  if (size == 0) return {};
  std::vector<double> shares;
  for (const at::Tensor& own : differences)
    shares.push_back((weight * own).sum().item<double>() / size);
  return shares;
}

std::vector<std::string> suspects(const std::string& part, const ConservationSums& sums) {
  std::vector<std::string> found;
  const auto suspect = [&](const char* tensor, const at::Tensor& squares, bool expected) {
    const double size = squares.sum().item<double>();
    if (!std::isfinite(size))
      found.push_back(c10::str(part, ": ", tensor, " is not finite"));
    else if (size == 0 && expected)
      found.push_back(c10::str(part, ": ", tensor, " is zero everywhere"));
  };
  const bool asked = sums.d_o_squares.sum().item<double>() > 0;
  suspect("o", sums.do_o_squares, asked);
  suspect("dq", sums.dq_q_squares, asked);
  suspect("dk", sums.dk_squares, asked);
  suspect("dv", sums.dv_squares, asked);
  return found;
}

bool isolated(const Parts& parts, const Arithmetic& how) {
  int64_t judged = 0;
  for (const ConservationSums& part : parts) {
    if (part.queries == 0 && part.keys == 0) continue;
    const auto laws = judge_conservation(part, how);
    const auto fails = [](const LawVerdict& law) { return law.status == Status::kFail; };
    if (laws.front().status != Status::kPass || std::ranges::any_of(laws, fails)) return false;
    ++judged;
  }
  return judged > 1;
}

}  // namespace ringcheck::parity
