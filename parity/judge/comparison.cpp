// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/comparison.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <limits>
#include <numeric>
#include <sstream>

#include "parity/subject/contract.h"

namespace ringcheck::parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double sum_over(const std::vector<double>& values, const std::vector<int64_t>& positions) {
  double sum = 0;
  for (const int64_t p : positions)
    if (p < static_cast<int64_t>(values.size())) sum += values[p];
  return sum;
}

// The runs of a shard; a shard in many short runs is one chunk.
std::vector<Positions> chunks(const Positions& shard) {
  if (shard.size() > 2) return {shard};
  std::vector<Positions> list;
  for (const Span& span : shard) list.push_back({span});
  return list;
}

// Whose slot a position is, and in which run of its shard; rank -1: nobody's.
struct Owner {
  int rank = -1;
  size_t run = 0;
};

Owner owner_of(const Case& test, int64_t position) {
  const std::vector<Positions> layout = layout_of(test).queries;
  for (size_t rank = 0; rank < layout.size(); ++rank)
    for (size_t run = 0; run < layout[rank].size(); ++run) {
      const Span& r = layout[rank][run];
      const int64_t offset = position - r.begin;
      if (offset >= 0 && offset % r.stride == 0 && offset / r.stride < r.count)
        return {static_cast<int>(rank), run};
    }
  return {};
}

std::string owner_text(const Owner& owner) {
  if (owner.rank < 0) return "no rank";
  return c10::str("rank ", owner.rank, " (chunk ", owner.run, ")");
}

// With as many digits as tell it from every other number.
std::string exactly(double value) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.begin(), digits.end(), value).ptr};
}

// What no result in this dtype can be, however it is computed.
std::string out_of_range(const Case& test, double value) {
  constexpr double kMostInHalf = 65504;
  if (test.dtype != at::kHalf || !std::isfinite(value) || std::abs(value) <= kMostInHalf) return "";
  return "; fp16 ends at 65504: use bf16, or data that is less wide";
}

// Where an element is off, and what is there.
std::string describe(const Case& test, const Worst& worst, const Tallied& tallied) {
  const int64_t head = worst.pair % tallied.groups * tallied.heads + worst.shared;
  const std::string channel = worst.channel < 0 ? "" : c10::str(", channel ", worst.channel);
  return c10::str(owner_text(owner_of(test, worst.position)), ", batch ",
                  worst.pair / tallied.groups, ", head ",
                  head, ", position ", worst.position, channel, ": got ", exactly(worst.actual),
                  ", expected ", exactly(worst.value), " +- ", worst.bound, " (sigma ", worst.sigma, ")",
                  out_of_range(test, worst.value));
}

// One element does not say whether it is alone.
std::string off_in_all(const TensorVerdict& verdict) {
  if (!(verdict.relative > 0) || std::isinf(verdict.relative)) return "";
  std::ostringstream text;
  text << "; in all |error| / |" << verdict.tensor << "| = " << std::setprecision(2) << verdict.relative;
  return text.str();
}

bool has_token(const Mask& mask, const std::vector<int64_t>& positions) {
  return std::ranges::any_of(positions, [&](int64_t p) { return is_token(mask, p); });
}

// BIAS of the worst rank, and of every rank how many chunks have a signal above what a zero would pass
// with, and so who judged it.
void judge_ranks(const Case& test, const Tally& tally, TensorVerdict& verdict) {
  const Mask mask = mask_of(test);
  for (const Positions& shard : layout_of(test).queries) {
    const std::vector<int64_t> own = flatten(shard);
    const int64_t counted_before = verdict.chunks_counted;
    const double m = sum_over(tally.elements, own);
    const double bias = m > 0 ? sum_over(tally.signed_z, own) / std::sqrt(m) : 0;
    if (!(std::abs(bias) <= std::abs(verdict.bias))) verdict.bias = bias;
    for (const Positions& chunk : chunks(shard)) {
      const std::vector<int64_t> part = flatten(chunk);
      const double total = sum_over(tally.energy, part);
      if (total == 0) continue;
      ++verdict.chunks;
      verdict.chunks_counted += sum_over(tally.vacuous, part) < kVacuous * total;
    }
    const bool exact = m == 0 && sum_over(tally.compared, own) > 0;
    verdict.judged_by.push_back(!has_token(mask, own)                      ? JudgedBy::kNoToken
                                : verdict.chunks_counted > counted_before ? JudgedBy::kBounded
                                : exact                                   ? JudgedBy::kExact
                                                                          : JudgedBy::kNobody);
  }
}

// There is nothing to compare.
TensorVerdict infinitely_wrong(const std::string& name, std::string what) {
  TensorVerdict verdict;
  verdict.tensor = name;
  verdict.status = Status::kFail;
  verdict.max_abs = verdict.hard_ratio = verdict.max_z = kInfinity;
  verdict.worst = std::move(what);
  return verdict;
}

}  // namespace

TensorVerdict misshapen(const std::string& name, at::IntArrayRef actual, at::IntArrayRef expected) {
  return infinitely_wrong(name, c10::str("shape ", actual, ", expected ", expected));
}

TensorVerdict not_returned(const std::string& name) {
  return infinitely_wrong(name, "not returned");
}

TensorVerdict withheld(const std::string& name) {
  TensorVerdict verdict;
  verdict.tensor = name;
  verdict.status = Status::kNotApplicable;
  return verdict;
}

std::vector<JudgedBy> judged_exactly(const Case& test) {
  const Mask mask = mask_of(test);
  std::vector<JudgedBy> ranks;
  for (const Positions& shard : layout_of(test).queries)
    ranks.push_back(has_token(mask, flatten(shard)) ? JudgedBy::kExact : JudgedBy::kNoToken);
  return ranks;
}

TensorVerdict judge(const Case& test, const std::string& name, const Tallied& tallied) {
  const Tally& tally = tallied.tally;
  TensorVerdict verdict;
  verdict.tensor = name;
  verdict.max_abs = tally.max_abs;
  verdict.hard_ratio = tally.hard_ratio;
  verdict.max_z = tally.max_z;
  verdict.compared = static_cast<int64_t>(sum_of(tally.compared));
  const double elements = sum_of(tally.elements), energy = sum_of(tally.energy);
  if (elements > 0) verdict.rms_z = std::sqrt(tally.z_squares / elements);
  if (tally.value_squares > 0)
    verdict.relative = std::sqrt(tally.error_squares) / std::sqrt(tally.value_squares);
  if (energy > 0) verdict.vacuity = sum_of(tally.vacuous) / energy;
  judge_ranks(test, tally, verdict);
  if (tally.max_z > 0) verdict.worst_rank = owner_of(test, tally.worst_position).rank;

  if (!(verdict.hard_ratio <= kHard && verdict.max_z <= kStat)) {
    verdict.status = Status::kFail;
    verdict.worst = describe(test, verdict.hard_ratio > kHard ? tally.hard : tally.stat, tallied) + off_in_all(verdict);
  } else if (verdict.compared == 0 || (elements > 0 && energy == 0)) {
    verdict.status = Status::kNotApplicable;  // the truth is zero, and may be missed: so is any zero right
  } else if (!(verdict.vacuity < kVacuous)) {
    verdict.status = Status::kInconclusive;
  }
  return verdict;
}

TensorVerdict compare(const Case& test, const std::string& name, const at::Tensor& actual,
                      const at::Tensor& value, const at::Tensor& bound, const at::Tensor& sigma) {
  if (actual.sizes() != value.sizes()) return misshapen(name, actual.sizes(), value.sizes());
  if (bound.sizes() != value.sizes() || sigma.sizes() != value.sizes())  // two runs, both misshapen alike
    return misshapen(name, actual.sizes(), bound.sizes());
  const Compared whole{actual, value, bound, sigma, 0, flatten({{0, value.size(2)}})};
  return judge(test, name, {tally(whole, value.size(2)), 1, value.size(1)});
}

std::string place_of(const Case& test, at::IntArrayRef sizes, int64_t flat) {
  std::string channel;
  if (sizes.size() == 4) {
    channel = c10::str(", channel ", flat % sizes[3]);
    flat /= sizes[3];
  }
  const int64_t position = flat % sizes[2], head = flat / sizes[2] % sizes[1];
  return c10::str(owner_text(owner_of(test, position)), ", batch ", flat / sizes[2] / sizes[1],
                  ", head ", head, ", position ", position, channel);
}

TensorVerdict charted(const Promise& promise, TensorVerdict verdict) {
  const auto found = promise.charts.find(verdict.tensor);
  if (found == promise.charts.end()) return verdict;
  const Chart* chart = &found->second;
  const double moved = std::abs(verdict.rms_z - chart->rms_mean);
  const double allowed = std::max(0.03 * chart->rms_mean, 6 * chart->rms_sd);
  verdict.chart = moved <= allowed ? Status::kPass : Status::kFail;
  const double leaning = std::abs(std::abs(verdict.bias) - chart->bias_mean);
  verdict.bias_status = leaning <= 6 * chart->bias_sd ? Status::kPass : Status::kFail;
  const bool expected = verdict.chart == Status::kPass && verdict.bias_status == Status::kPass;
  if (expected || verdict.status == Status::kFail) return verdict;
  verdict.status = Status::kFail;
  const bool looser = verdict.chart == Status::kFail && verdict.rms_z < chart->rms_mean;
  verdict.worst = c10::str("RMS z ", verdict.rms_z, " or bias ", verdict.bias, " is not what this kernel's calibration expects: ",
                           chart->rms_mean, ", ", chart->bias_mean, looser ? "; smaller errors than ever: a bound or the contract may be too loose" : "");
  return verdict;
}

Status status_of(const std::vector<TensorVerdict>& tensors) {
  Status status = Status::kNotApplicable;
  for (const TensorVerdict& tensor : tensors) {
    if (tensor.status == Status::kFail) return Status::kFail;
    if (tensor.status == Status::kInconclusive) status = Status::kInconclusive;
    if (tensor.status == Status::kPass && status == Status::kNotApplicable) status = Status::kPass;
  }
  return status;
}

Status status_of_relation(const std::vector<TensorVerdict>& tensors) {
  const auto any = [&](Status status) {
    return std::ranges::any_of(tensors, [=](const TensorVerdict& t) { return t.status == status; });
  };
  for (const Status status : {Status::kFail, Status::kPass, Status::kInconclusive})
    if (any(status)) return status;
  return Status::kNotApplicable;
}

OracleVerdict verdict_of(std::vector<TensorVerdict> tensors) {
  OracleVerdict verdict;
  verdict.status = status_of(tensors);
  for (const TensorVerdict& tensor : tensors)
    if (tensor.status == Status::kFail)
      verdict.findings.push_back(tensor.tensor + ": " + tensor.worst);
  verdict.tensors = std::move(tensors);
  return verdict;
}

}  // namespace ringcheck::parity
