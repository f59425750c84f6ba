// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/conservation/conservation.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <cmath>
#include <limits>

#include "parity/judge/comparison.h"

namespace ringcheck::parity {
namespace {

// |difference| / sigma; a NaN or a scale that is not finite is infinite, but where nothing differs: then squares have overflowed.
at::Tensor z_of(const at::Tensor& difference, const at::Tensor& variance) {
  const at::Tensor none = difference.eq(0), z = at::where(none, 0.0, difference.abs() / variance.sqrt());
  const at::Tensor immeasurable = variance.isnan() | (variance.isinf() & none.logical_not());
  return at::where(z.isnan() | immeasurable | difference.isfinite().logical_not(), INFINITY, z);
}

LawVerdict judged(const Law& law) {
  LawVerdict verdict;
  verdict.law = law.name;
  verdict.says = law.says;
  const at::Tensor z = z_of(law.difference, law.variance).cpu();
  const at::Tensor power = (law.wrong.abs() / law.variance.sqrt()).nan_to_num(0).cpu().amax(-1);
  verdict.heads = power.numel();
  if (z.numel() == 0) {
    verdict.status = Status::kInconclusive;
    return verdict;
  }
  const int64_t at = z.argmax().item<int64_t>(), channels = z.size(2);
  const auto there = [&](const at::Tensor& t) {
    return t.expand_as(z).reshape({-1})[at].item<double>();
  };
  verdict.z = there(z);
  verdict.difference = there(law.difference.cpu());
  verdict.sigma = std::sqrt(there(law.variance.cpu()));
  verdict.batch = at / channels / z.size(1);
  verdict.kv_head = at / channels % z.size(1);
  verdict.channel = law.whole ? -1 : at % channels;
  verdict.power = power.max().item<double>();
  verdict.counted = power.gt(kStat).sum().item<int64_t>();
  verdict.status = !(verdict.z <= kStat)    ? Status::kFail
                   : verdict.counted == 0 ? Status::kInconclusive
                                            : Status::kPass;
  return verdict;
}

}  // namespace

std::string LawVerdict::text() const {
  const std::string where = channel < 0 ? "" : c10::str(" channel ", channel);
  const auto shown = [](double x) { return std::isnan(x) ? std::numeric_limits<double>::quiet_NaN() : x; };  // no sign
  return c10::str(law, " ", says, ": off by ", shown(difference), ", sigma ", shown(sigma), ", z ", shown(z),
                  " at batch ", batch, " kv head ", kv_head, where);
}

std::vector<LawVerdict> judge_conservation(const ConservationSums& sums,
                                           const Arithmetic& how) {
  std::vector<LawVerdict> laws;
  for (const Law& law : laws_of(sums, how)) laws.push_back(judged(law));
  if (!how.rotated) laws[1].status = Status::kNotApplicable;
  return laws;
}

bool explained(const std::vector<LawVerdict>& before, const std::vector<LawVerdict>& after) {
  bool any = false;
  for (size_t law = 0; law < before.size(); ++law) {
    const bool failed = before[law].status == Status::kFail;
    if (after[law].status == Status::kFail) return false;
    if (failed && after[law].status == Status::kInconclusive) return false;
    any |= failed;
  }
  return any;
}

bool mended(const std::vector<LawVerdict>& before, const std::vector<LawVerdict>& after) {
  for (size_t law = 0; law < before.size(); ++law)
    if (before[law].status == Status::kFail &&
        !(std::abs(after[law].difference) < std::abs(before[law].difference) / 2))
      return false;
  return explained(before, after);
}

double output_variance(const ConservationSums& sums, const Arithmetic& arithmetic) {
  return laws_of(sums, arithmetic).back().variance.sum().item<double>();
}

}  // namespace ringcheck::parity
