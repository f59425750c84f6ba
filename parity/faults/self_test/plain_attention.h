// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "parity/case/case.h"
#include "reference/attention.h"

// Attention in plain loops, for tiny problems: what the reference, the masks' predicate and the
// rotation of the reference are held to. It shares types with them, and no arithmetic.
namespace ringcheck::parity::plain {

// A slot as a token: -1 where there is none. `index` counts from 0 in each document.
struct Token {
  int64_t document = -1, index = 0;
};
std::vector<Token> tokens_of(const Mask& mask);

// May the query in slot q attend to the key in slot k?
bool sees(const Mask& mask, const std::vector<Token>& tokens, int64_t q, int64_t k);

// softmax(scale q k^T + mask) v and its gradients, in float64 on the CPU, of inputs in any dtype. A
// query that sees no key has O = 0, LSE = -inf and zero gradients.
reference::Tensors attention(const reference::Inputs& inputs);

// x [batch, heads, seq, dim] turned by +1 or -1 times the angles of its slots, in float64; zero in
// slots without a token, whatever x holds there. Throws std::invalid_argument on scaled
// frequencies.
at::Tensor turned(const at::Tensor& x, const Case& test, int direction);

}  // namespace ringcheck::parity::plain
