// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <vector>

#include "parity/judge/comparison.h"
#include "parity/judge/oracle.h"
#include "parity/judge/tally.h"
#include "reference/errors/bounds.h"

namespace ringcheck::parity {

// A row for each key, and heads of keys.
bool is_of_keys(const NamedTensor& named);

// [batch, heads, seq, dim], LSE without dim.
std::vector<int64_t> shape_of(const NamedTensor& named, const Case& test);

// Compares an outcome with float64, a run of (batch, kv head) pairs after the other, on every device
// there is; in a sample of queries and keys where one was asked for.
class AgainstReference {
 public:
  explicit AgainstReference(const Evidence& evidence);

  std::vector<Tally> operator()() const;  // one a tensor of kTensors; empty where it is not judged

  bool sampled() const { return evidence_.sample > 0 && evidence_.sample < evidence_.test.seq; }
  // The outcome has the tensor of this index, in its shape.
  bool comparable(size_t index) const { return comparable_[index]; }
  // dK and dV of a sample follow from O and LSE.
  bool judged(size_t index) const { return !is_of_keys(kTensors[index]) || !keys_.empty(); }

 private:
  reference::Judge judge_of_all() const;
  std::vector<Tally> tallies(reference::Range run, const reference::Judgement& truth) const;
  void demand_whole(const NamedTensor& named, const Tally& sum) const;
  Tally tally_of(const NamedTensor& named, reference::Range run,
                 const reference::Judgement& truth) const;

  const Evidence& evidence_;
  reference::Inputs inputs_;
  std::vector<int64_t> queries_, keys_;  // positions
  std::vector<bool> comparable_;
  mutable std::mutex ticking_;
};

}  // namespace ringcheck::parity
