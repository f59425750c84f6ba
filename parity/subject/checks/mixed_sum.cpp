// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/checks/mixed_sum.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ringcheck::parity {
namespace {

// A tensor of one dimension as whole numbers, as wide as its size and its place in memory allow.
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

}  // namespace

at::Tensor mixed_sum(const at::Tensor& x) {
  constexpr int64_t kPieces = 32, kWords = 8192;  // a large tensor in pieces, as there is to be no copy of it
  at::Tensor sum = at::zeros({}, x.options().dtype(at::kLong));
  if (x.numel() == 0) return sum;
  const at::Tensor all = words(x.view({-1}));
  const int64_t piece = std::max(kWords, (all.numel() + kPieces - 1) / kPieces);
  for (int64_t begin = 0; begin < all.numel(); begin += piece)
    sum += mixed(all.narrow(0, begin, std::min(piece, all.numel() - begin)), begin).sum();
  return sum;
}

}  // namespace ringcheck::parity
