// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "parity/judge/comparison.h"
#include "parity/judge/kept/kept.h"
#include "parity/judge/oracle.h"
#include "parity/judge/tally.h"
#include "parity/judge/truth.h"
#include "reference/errors/bounds.h"

namespace ringcheck::parity {

// A row for each key, and heads of keys.
bool is_of_keys(const NamedTensor& named);

// [batch, heads, seq, dim], LSE without dim.
std::vector<int64_t> shape_of(const NamedTensor& named, const Case& test);

// Compares an outcome with float64, a run of (batch, kv head) pairs after the other, on every device
// there is; in a sample of queries and keys where one was asked for. Batch entries of different lengths
// are asked about one after the other, and what they hold behind their tokens must be empty.
class AgainstReference {
 public:
  explicit AgainstReference(const Evidence& evidence);

  std::vector<Tally> operator()() const;  // one a tensor of kTensors; empty where it is not judged

  // Of Kept, after operator().
  std::vector<std::string> said_of_kept() const { return kept_.said(); }

  bool sampled() const { return evidence_.sample > 0 && evidence_.sample < evidence_.test.seq; }
  // The outcome has the tensor of this index, in its shape.
  bool comparable(size_t index) const { return comparable_[index]; }
  // dK and dV of a sample follow from O and LSE.
  bool judged(size_t index) const { return !is_of_keys(kTensors[index]) || !sampled() || given_; }

 private:
  // Entries that hold equally many tokens.
  struct Part {
    EntriesOfInputs of;
    bool sampled = false;
    std::vector<int64_t> queries, keys;  // positions that are judged

    const std::vector<int64_t>& positions(const NamedTensor& named) const {
      return is_of_keys(named) ? keys : queries;
    }
    // Their share of x [batch, heads, seq, ...], up to their length.
    at::Tensor tokens(const at::Tensor& x) const;
    // And from there on.
    at::Tensor pads(const at::Tensor& x) const;
  };
  Part part_of(EntriesOfInputs some) const;
  reference::Judge judge_of(const Part& part, int64_t threads) const;
  const at::Tensor& found(const NamedTensor& named) const {
    return evidence_.outcome.tensors.*named.tensor;
  }
  // One a tensor, empty where it cannot be compared or is not judged.
  std::vector<Tally> of_each(const std::function<Tally(const NamedTensor&)>& tally_of) const;
  // All that a run is judged by: what was attended, and what came back.
  std::vector<at::Tensor> bits_of(const Part& part, reference::Range run) const;
  Tally tally_of(const NamedTensor& named, const Part& part, reference::Range run,
                 const reference::Judgement& truth) const;
  Tally tally_of_pads(const NamedTensor& named, const Part& part) const;
  void demand_whole(const NamedTensor& named, const Tally& sum) const;

  const Evidence& evidence_;
  reference::Inputs inputs_;
  std::vector<bool> comparable_;
  bool given_ = false;  // O and LSE are comparable
  std::vector<Part> parts_;
  mutable Kept kept_;
  mutable std::mutex ticking_;
};

}  // namespace ringcheck::parity
