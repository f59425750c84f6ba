// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/diagnosis/nearness.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cmath>

namespace ringcheck::parity {
namespace {

constexpr double kNear = 0.02, kNearer = 0.1;  // of what explains it, and of the way to the truth
constexpr int64_t kLeast = 16;                 // numbers that are not zero
constexpr double kClean = 0.05;  // of the relative error of all: less is rounding
constexpr double kSmall = 0.05;  // of the root mean square of all: what is smaller, as gradients that cancel, is taken for as large
constexpr int64_t kFew = 16;     // of so many, scattered ones are named, too

at::Tensor errors(const at::Tensor& got, const at::Tensor& expected) {
  return at::where(got == expected, 0., got - expected);
}

at::Tensor finite(const at::Tensor& x) { return at::where(x.isfinite(), x, 0.); }

// Of the indices of an axis those that are wrong.
std::vector<int64_t> wrong_along(const Beside& all, int64_t axis) {
  const Extent extent = extent_of(all);
  std::vector<int64_t> list;
  for (int64_t i = 0; i < all.got.size(axis); ++i)
    if (is_wrong({all.got.select(axis, i), all.truth.select(axis, i)}, extent)) list.push_back(i);
  return list;
}

// Whether it is off by no more than rounding where it is not wrong.
bool is_right_beside(const Beside& all, int64_t axis, const std::vector<int64_t>& wrong, double rounding) {
  std::vector<int64_t> others;
  for (int64_t i = 0; i < all.got.size(axis); ++i)
    if (!std::ranges::binary_search(wrong, i)) others.push_back(i);
  const auto of = [&](const at::Tensor& x) { return x.index_select(axis, at::tensor(others, at::kLong)); };
  const at::Tensor truth = of(all.truth);
  return distance(of(all.got), truth) <= rounding * size_of(truth);
}

std::vector<int64_t> ranks_of(const std::vector<int64_t>& tokens, const std::vector<int64_t>& owner) {
  std::vector<int64_t> list;
  for (const int64_t token : tokens) list.push_back(owner[token]);
  std::ranges::sort(list);
  const auto doubles = std::ranges::unique(list);
  list.erase(doubles.begin(), doubles.end());
  return list;
}

}  // namespace

double distance(const at::Tensor& got, const at::Tensor& expected) { return errors(got, expected).norm().item<double>(); }

double size_of(const at::Tensor& expected) { return finite(expected).norm().item<double>(); }

bool explains(const at::Tensor& there, const Beside& part) {
  const double off = distance(part.got, there);
  if (!(off <= kNear * size_of(there))) return false;
  const double off_truth = distance(part.got, part.truth);
  return off_truth > 0 && off <= kNearer * off_truth && finite(part.truth).count_nonzero().item<int64_t>() >= kLeast;
}

Extent extent_of(const Beside& all) {
  const double size = size_of(all.truth);
  return {distance(all.got, all.truth), size, size / std::sqrt(static_cast<double>(std::max<int64_t>(all.truth.numel(), 1)))};
}

bool is_wrong(const Beside& part, const Extent& all) {
  const double off = distance(part.got, part.truth);
  if (!std::isfinite(all.off)) return !std::isfinite(off);
  const double least = kSmall * all.root_mean_square * std::sqrt(static_cast<double>(part.truth.numel()));
  return off > 0 && !(off * all.size <= kClean * all.off * std::max(size_of(part.truth), least));
}

std::string numbers_text(const std::vector<int64_t>& ascending) {
  const auto count = static_cast<int64_t>(ascending.size());
  if (count > 2 && ascending.back() - ascending.front() == count - 1)
    return c10::str(ascending.front(), " to ", ascending.back());
  std::vector<std::string> words;
  for (const int64_t number : ascending) words.push_back(std::to_string(number));
  return list_text(words);
}

std::string list_text(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

std::string place_of_errors(const Beside& all, const std::string& head, const std::vector<int64_t>& owner, double rounding) {
  std::vector<std::string> places;
  const auto tell = [&](int64_t axis, const std::vector<int64_t>& wrong, const std::string& one, const std::string& several) {
    const auto count = static_cast<int64_t>(wrong.size()), of = all.got.size(axis);
    const bool run = count > 0 && wrong.back() - wrong.front() + 1 == count;
    if (count == 0 || 2 * count > of || (!run && of > kFew) || !is_right_beside(all, axis, wrong, rounding)) return;
    places.push_back((count == 1 ? one : several) + " " + numbers_text(wrong));
  };
  tell(0, wrong_along(all, 0), "in batch entry", "in batch entries");
  tell(1, wrong_along(all, 1), "in " + head, "in " + head + "s");
  if (owner.empty()) return list_text(places);
  const std::vector<int64_t> tokens = wrong_along(all, 2), ranks = ranks_of(tokens, owner);
  std::vector<int64_t> theirs;
  for (int64_t p = 0; p < all.got.size(2); ++p)
    if (std::ranges::binary_search(ranks, owner[p])) theirs.push_back(p);
  if (2 * static_cast<int64_t>(ranks.size()) <= *std::ranges::max_element(owner) + 1 && is_right_beside(all, 2, theirs, rounding))
    places.push_back((ranks.size() == 1 ? "at rank " : "at ranks ") + numbers_text(ranks));
  tell(2, tokens, "at position", "at positions");
  tell(3, wrong_along(all, 3), "in channel", "in channels");
  return list_text(places);
}

}  // namespace ringcheck::parity
