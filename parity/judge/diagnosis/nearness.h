// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ringcheck::parity {

// A tensor that is wrong, beside the truth, [entries, heads, tokens, channels] in float64 on a CPU.
struct Beside {
  at::Tensor got, truth;
};

// Norms of a difference, and of what should be. Two infinities of one sign are equal; whoever differs from one is
// infinitely far.
double distance(const at::Tensor& got, const at::Tensor& expected);
double size_of(const at::Tensor& expected);

// Whether `there` explains what was got: got lies within 2 % of it, ten times nearer than to the truth, and is
// not so little that chance would do. NaN is near nothing.
bool explains(const at::Tensor& there, const Beside& part);

// How wrong a tensor is: norms of its error and of the truth, and the root mean square of that.
struct Extent {
  double off = 0, size = 0, root_mean_square = 0;
};
Extent extent_of(const Beside& all);

// Whether a part of a tensor is among what is wrong of it: its error, for its size, at least 5 % of that of all. Where
// something is not finite, that is what is wrong.
bool is_wrong(const Beside& part, const Extent& all);

// Where alone a tensor is wrong, in words: "in head 3 and at rank 1"; empty, if all over it, or if elsewhere it is off by
// more than `rounding` of it. `owner` is the rank of each token; without it entries and heads alone are looked at.
std::string place_of_errors(const Beside& all, const std::string& head, const std::vector<int64_t>& owner, double rounding);

// "3", "0 and 2", "4 to 7".
std::string numbers_text(const std::vector<int64_t>& ascending);
// "o, lse and dq"
std::string list_text(const std::vector<std::string>& words);

}  // namespace ringcheck::parity
