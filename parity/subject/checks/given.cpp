// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/checks/given.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "cp/ledger/memory.h"

namespace ringcheck::parity {
namespace {

struct Input {
  const char* name;
  at::Tensor Problem::*from;
};
constexpr Input kInputs[] = {{"q", &Problem::q}, {"k", &Problem::k}, {"v", &Problem::v}, {"dO", &Problem::d_o}};

// The last dimension as whole numbers, as wide as its size and its place in memory allow.
at::Tensor words(const at::Tensor& x) {
  const auto whole = [&](int64_t elements, at::ScalarType word) {
    return elements * x.element_size() % static_cast<int64_t>(c10::elementSize(word)) == 0;
  };
  for (const at::ScalarType word : {at::kLong, at::kInt, at::kShort})
    if (whole(x.size(-1), word) && whole(x.storage_offset(), word)) return x.view(word);
  return x.view(at::kChar);
}

// Odd numbers and shifts of splitmix64 (Steele, Lea and Flood 2014).
constexpr auto kPlace = static_cast<int64_t>(0x9E3779B97F4A7C15), kFirst = static_cast<int64_t>(0xBF58476D1CE4E5B9),
               kSecond = static_cast<int64_t>(0x94D049BB133111EB);

// Of words, of which the first is the `begin`th of a tensor.
at::Tensor mixed(const at::Tensor& some, int64_t begin) {
  at::Tensor x = at::arange(begin, begin + some.numel(), some.options().dtype(at::kLong)).mul_(kPlace).add_(some);
  x.bitwise_xor_(x.bitwise_right_shift(30)).mul_(kFirst);
  x.bitwise_xor_(x.bitwise_right_shift(27)).mul_(kSecond);
  return x.bitwise_xor_(x.bitwise_right_shift(31));
}

// The sum of a tensor's words, each mixed with its place: what changes many of them alike changes it, too.
at::Tensor mixed_sum(const at::Tensor& x) {
  constexpr int64_t kPieces = 32, kWords = 8192;  // a large tensor in pieces, as there is to be no copy of it
  at::Tensor sum = at::zeros({}, x.options().dtype(at::kLong));
  if (x.numel() == 0) return sum;
  const at::Tensor all = words(x).flatten();
  const int64_t piece = std::max(kWords, (all.numel() + kPieces - 1) / kPieces);
  for (int64_t begin = 0; begin < all.numel(); begin += piece)
    sum += mixed(all.narrow(0, begin, std::min(piece, all.numel() - begin)), begin).sum();
  return sum;
}

int64_t hash_of(const at::Tensor& x) {
  return static_cast<int64_t>(std::hash<std::string_view>()({static_cast<const char*>(x.const_data_ptr()), x.nbytes()}));
}

}  // namespace

Given::Traces Given::sums_of(const Problem& problem) {
  std::vector<at::Tensor> sums;
  for (const Input& input : kInputs) sums.push_back(mixed_sum((problem.*input.from).contiguous()));
  const at::Tensor all = at::stack(sums).cpu();
  Traces traces;
  for (size_t i = 0; i < traces.size(); ++i) traces[i] = all[static_cast<int64_t>(i)].item<int64_t>();
  return traces;
}

Given::Traces Given::traces_of(const Problem& problem) {
  const Metered aside(std::make_shared<MemoryMeter>());  // nobody reads it: what this takes is not the rank's
  if (!problem.q.is_cpu()) return sums_of(problem);
  Traces traces;
  for (size_t i = 0; i < traces.size(); ++i) traces[i] = hash_of((problem.*kInputs[i].from).contiguous());
  return traces;
}

Given::Given(const Problem& problem) : traces_(traces_of(problem)) {}

int64_t Given::changed(const Problem& now) const {
  const Traces traces = traces_of(now);
  int64_t bits = 0;
  for (size_t i = 0; i < traces.size(); ++i)
    if (traces[i] != traces_[i]) bits |= int64_t{1} << i;
  return bits;
}

std::string Given::names(int64_t changed) {
  std::string names;
  for (size_t i = 0; i < std::size(kInputs); ++i)
    if ((changed >> i & 1) != 0) names += (names.empty() ? "" : ", ") + std::string(kInputs[i].name);
  return names;
}

}  // namespace ringcheck::parity
