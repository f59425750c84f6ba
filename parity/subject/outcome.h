// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "parity/subject/run.h"
#include "reference/tensors.h"

namespace ringcheck::parity {

// What a subject computed, put together in sequence order, and what its ranks measured.
struct Outcome {
  reference::Tensors tensors;      // [batch, heads, seq, dim], lse without dim; dtypes as returned
  at::Tensor q_rotated, k_rotated;
  std::vector<RankRecord> ranks;
  std::vector<std::string> missing = {};  // tensors that were not returned, with the rank, in words
  std::set<std::string> withheld = {};    // of o, lse, dq, dk, dv: what was not promised
  bool did_as_asked = false;
  std::map<std::string, at::Tensor> others = {};  // further tensors, by name

  bool shows_rotated() const { return q_rotated.defined() && k_rotated.defined(); }
};

// Are all tensors equal? Every NaN is the same, and -0 is 0.
bool same_values(Outcome a, Outcome b);
bool same_values(const at::Tensor& a, const at::Tensor& b);

// Runs the subject on the ranks of `world` and brings everything to its rank 0; nothing on the
// other ranks. Collective.
std::optional<Outcome> solve_on_ranks(const Run& run, Communicator& world, const Subject& subject);

// Why a run cannot be made of this subject, or nothing: one that answers for all ranks at once has no
// rank that anything could surround or come between.
std::optional<std::string> refuses(const Run& run, const Subject& subject);

// Asks a subject that answers for all ranks at once, where this process is.
Outcome solve_whole(const Run& run, const WholeSubject& subject);

}  // namespace ringcheck::parity
