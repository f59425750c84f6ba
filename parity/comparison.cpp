// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/comparison.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cmath>

#include "parity/contract.h"

#ifdef __FAST_MATH__
#error "a comparison compiled with fast-math lets NaN through"
#endif

namespace ringcheck::parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sums over batch, heads and channels, by position.
std::vector<double> by_position(const at::Tensor& x) {
  std::vector<int64_t> others{0, 1};
  if (x.dim() == 4) others.push_back(3);
  const at::Tensor sums = x.sum(others).cpu().contiguous();
  return {sums.const_data_ptr<double>(), sums.const_data_ptr<double>() + sums.numel()};
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
  for (const Run& run : shard) list.push_back({run});
  return list;
}

// |actual - value|; equal infinities differ by nothing.
at::Tensor distance(const at::Tensor& actual, const at::Tensor& value) {
  return (actual - value).abs_().masked_fill_(actual.eq(value), 0);
}

// Frobenius norm; what is infinite in the truth (LSE of a query that sees nothing) is left out.
double finite_norm(const at::Tensor& x) {
  return std::sqrt(x.masked_fill(x.isinf(), 0).square().sum().item<double>());
}

// Whose slot a position is, and in which run of its shard; rank -1: nobody's.
struct Owner {
  int rank = -1;
  size_t run = 0;
};

Owner owner_of(const Case& test, int64_t position) {
  const Layout layout = layout_of(test);
  for (size_t rank = 0; rank < layout.size(); ++rank)
    for (size_t run = 0; run < layout[rank].size(); ++run) {
      const Run& r = layout[rank][run];
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

// The owner of the largest element of [batch, heads, seq] or [batch, heads, seq, dim].
int owner_of_largest(const Case& test, const at::Tensor& x) {
  const int64_t flat = x.argmax().item<int64_t>();
  return owner_of(test, (x.dim() == 4 ? flat / x.size(3) : flat) % x.size(2)).rank;
}

// Where the ratio is largest, or not a number, and what is there.
std::string describe_worst(const Case& test, const at::Tensor& ratio, const at::Tensor& actual,
                           const at::Tensor& value, const at::Tensor& bound,
                           const at::Tensor& sigma) {
  const int64_t flat = ratio.nan_to_num(kInfinity, kInfinity).argmax().item<int64_t>();
  const auto at_worst = [flat](const at::Tensor& x) {
    return x.contiguous().view(-1)[flat].item<double>();
  };
  return c10::str(place_of(test, ratio.sizes(), flat), ": got ", at_worst(actual), ", expected ",
                  at_worst(value), " +- ", at_worst(bound), " (sigma ", at_worst(sigma), ")");
}

struct ByRank {
  double bias = 0;
  int64_t chunks = 0, counted = 0;
};

// BIAS of the worst rank, and how many chunks have a signal above what a zero would pass with.
ByRank by_rank(const Case& test, const at::Tensor& z, const at::Tensor& value,
               const at::Tensor& sigma, const at::Tensor& in_statistics) {
  const at::Tensor finite = value.masked_fill(in_statistics.logical_not(), 0);
  const auto signed_z = by_position(z * finite.sign());
  const auto elements = by_position(in_statistics.to(at::kDouble));
  const at::Tensor energy_at = finite.square();
  const auto energy = by_position(energy_at);
  const auto vacuous = by_position(energy_at.masked_fill(finite.abs() > kStat * sigma, 0));
  ByRank result;
  for (const Positions& shard : layout_of(test)) {
    const std::vector<int64_t> own = flatten(shard);
    const double m = sum_over(elements, own);
    const double bias = m > 0 ? sum_over(signed_z, own) / std::sqrt(m) : 0;
    if (!(std::abs(bias) <= std::abs(result.bias))) result.bias = bias;
    for (const Positions& chunk : chunks(shard)) {
      const std::vector<int64_t> part = flatten(chunk);
      const double total = sum_over(energy, part);
      if (total == 0) continue;
      ++result.chunks;
      result.counted += sum_over(vacuous, part) < kVacuous * total;
    }
  }
  return result;
}

}  // namespace

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

TensorVerdict compare(const Case& test, const std::string& name, const at::Tensor& actual,
                      const at::Tensor& value, const at::Tensor& bound, const at::Tensor& sigma) {
  TensorVerdict verdict;
  verdict.tensor = name;
  if (actual.sizes() != value.sizes()) {
    verdict.status = Status::kFail;
    verdict.max_abs = verdict.hard_ratio = verdict.max_z = kInfinity;
    verdict.worst = c10::str("shape ", actual.sizes(), ", expected ", value.sizes());
    return verdict;
  }
  const at::Tensor wide = actual.to(at::kDouble);
  const at::Tensor error = distance(wide, value);
  // 0 / 0 is no error; anything over 0 is infinitely too much, as is NaN.
  const at::Tensor ratio = (error / bound).masked_fill_(error.eq(0), 0).nan_to_num_(kInfinity, kInfinity);
  const at::Tensor in_statistics = sigma > 0;
  const at::Tensor z = ((wide - value) / sigma).masked_fill_(in_statistics.logical_not(), 0);
  const at::Tensor abs_z = z.abs().nan_to_num_(kInfinity, kInfinity);
  const double elements = in_statistics.sum().item<double>();
  if (error.numel() > 0) {
    verdict.max_abs = error.nan_to_num(kInfinity, kInfinity).max().item<double>();
    verdict.hard_ratio = ratio.max().item<double>();
    verdict.max_z = abs_z.max().item<double>();
    if (verdict.max_z > 0) verdict.worst_rank = owner_of_largest(test, abs_z);
  }
  if (elements > 0) verdict.rms_z = std::sqrt(abs_z.square().sum().item<double>() / elements);
  const double norm = finite_norm(value);
  if (norm > 0) verdict.relative = finite_norm(error) / norm;
  const at::Tensor signal = value.masked_fill(in_statistics.logical_not(), 0);
  const double energy = signal.square().sum().item<double>();
  const at::Tensor hidden = signal.masked_fill(signal.abs() > kStat * sigma, 0);
  if (energy > 0) verdict.vacuity = hidden.square().sum().item<double>() / energy;
  const ByRank ranks = by_rank(test, z, value, sigma, in_statistics);
  verdict.bias = ranks.bias;
  verdict.chunks = ranks.chunks;
  verdict.chunks_counted = ranks.counted;

  const bool within = verdict.hard_ratio <= kHard && verdict.max_z <= kStat;
  if (!within) {
    verdict.status = Status::kFail;
    verdict.worst = describe_worst(test, verdict.hard_ratio > kHard ? ratio : abs_z, wide, value,
                                   bound, sigma);
  } else if (!(verdict.vacuity < kVacuous)) {
    verdict.status = Status::kInconclusive;
  }
  return verdict;
}

TensorVerdict charted(const Case& test, TensorVerdict verdict) {
  const auto chart = chart_of(test, verdict.tensor);
  if (!chart) return verdict;
  const double moved = std::abs(verdict.rms_z - chart->rms_mean);
  const double allowed = std::max(0.03 * chart->rms_mean, 6 * chart->rms_sd);
  verdict.chart = moved <= allowed ? Status::kPass : Status::kFail;
  const double leaning = std::abs(std::abs(verdict.bias) - chart->bias_mean);
  verdict.bias_status = leaning <= 6 * chart->bias_sd ? Status::kPass : Status::kFail;
  const bool expected = verdict.chart == Status::kPass && verdict.bias_status == Status::kPass;
  if (expected || verdict.status == Status::kFail) return verdict;
  verdict.status = Status::kFail;
  verdict.worst = c10::str("RMS z ", verdict.rms_z, " or bias ", verdict.bias,
                           " is not what this kernel's calibration expects");
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
