// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "parity/subject/contract.h"
#include "reference/errors/contract.h"

namespace ringcheck::parity {

// What a subject says of itself before it runs a case. An oracle asks the promise, never a name:
// what is promised is held against it, and what is not promised is `not_applicable`, by name.
struct Promise {
  reference::Contract contract;  // of its arithmetic (docs/numerics.md)
  std::optional<reference::Contract> backward_contract = {};  // of its backward pass, where another
  int partials = 1;              // rounded partial results that a row of O is merged from
  GradientPartials gradient_partials = {};
  // Unit roundoff of the angles of a rotary embedding: 2^-24 where they are computed in float32.
  double u_angle = 0x1p-53;
  bool deterministic = false;    // the same input gives the same bits
  // Tensors that every rank returns: of o, lse, dq, dk, dv, and q and k as they were attended.
  std::set<std::string> shows{"o", "lse", "dq", "dk", "dv"};
  // What it counts while it runs; nothing of it is judged otherwise.
  enum class Counts {
    kTraffic,  // bytes, messages and bytes by peer
    kWork,     // pairs, FLOPs, steps, merges
    kMemory    // bytes held, and their peak
  };
  std::set<Counts> counts;
  // Bytes that each rank sends to each of them in a call: nothing else moves. Empty: it does not say.
  std::vector<std::vector<int64_t>> sends = {};
  bool by_strategy = false;  // works as the strategy of the case says: the closed forms hold
  bool separate_passes = false;  // forward and backward can be called one by one, and again
  bool autograd = false;         // is an operation of autograd, too, which shows no rotated q and k
  bool any_layout = false;       // takes queries and keys cut in any way, one unlike the other
  bool lengths = false;          // takes batch entries that hold different numbers of tokens
  std::map<std::string, Chart> charts;  // by tensor, where it was calibrated at this very case

  reference::Contracts contracts() const { return {contract, backward_contract.value_or(contract)}; }
  reference::Partials merged() const {
    const auto of = [this](int gradient) { return gradient == 0 ? partials : gradient; };
    return {partials, of(gradient_partials.dq), of(gradient_partials.dkv)};
  }
};

// Throws BadCase where the promise cannot be kept: names no tensor, or less than one partial.
void validate(const Promise& promise, const std::string& subject);

}  // namespace ringcheck::parity
