// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "parity/subject/ours.h"

// Errors of a chosen size, for measuring how small a one is seen.
namespace ringcheck::parity {

// element, row, chunk, rank, tensor
const std::vector<std::string>& plant_scopes();

// Where an error sits in a tensor in sequence order [batch, heads, seq] or [batch, heads, seq, dim]:
// bool of its shape; where, the seed of the case decides. An element, and a row, is one at least as
// large as the root mean square.
at::Tensor planted_where(const Case& test, const at::Tensor& x, const std::string& scope);

// x (1 + epsilon) there, rounded to the dtype of x.
at::Tensor planted(const at::Tensor& x, const at::Tensor& where, double epsilon);

// softmax scale, merge weight, normaliser of one rank, all gradients
const std::vector<std::string>& inner_plants();

// Our subject with this of it off by the relative error epsilon.
SharedSubject slightly_wrong(const std::string& what, double epsilon);

}  // namespace ringcheck::parity
