// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parity/judge/diagnosis/alternatives.h"

namespace ringcheck::parity {

inline constexpr int64_t kMostRanks = 16;  // of which each has alternatives of its own

// A mask as a table, which costs less to ask. A position that is nowhere sees nothing, and nobody sees it.
class Seen {
 public:
  explicit Seen(const at::Tensor& pairs) : pairs_(pairs), seen_(pairs_.const_data_ptr<bool>()), tokens_(pairs.size(0)) {}
  bool operator()(int64_t q, int64_t k) const { return is_there(q) && is_there(k) && seen_[q * tokens_ + k]; }
  bool is_there(int64_t position) const { return position >= 0 && position < tokens_; }

 private:
  at::Tensor pairs_;
  const bool* seen_;
  int64_t tokens_;
};

// Alternatives in the order in which they are told.
class AlternativeList {
 public:
  using Change = std::function<void(Attending&)>;
  using Pairs = std::function<bool(int64_t query, int64_t key)>;
  using Moved = std::function<int64_t(int64_t position)>;  // negative, or behind the tokens: nowhere

  explicit AlternativeList(const Asked& asked);

  void add(std::string words, const Change& change);
  void add(std::string words, std::function<reference::Tensors()> answer);
  // Other pairs of slots see each other; of tokens; by another mask.
  void slots(std::string words, const Pairs& visible);
  void pairs(std::string words, const Pairs& visible);
  void mask(std::string words, const decltype(Mask::kind)& kind);
  // The backward pass takes other pairs of tokens, with the LSE of the forward one.
  void backward(std::string words, const Pairs& visible);
  // The mask of the case, or its angles, or both, are of other positions of every slot, or of every query or key alone.
  void positions(const std::string& words, const Moved& moved);
  // Rows of the right answer, put at other positions.
  void rows(std::string words, const Moved& from);

  const Seen& seen() const { return seen_; }  // as the case says
  std::vector<Alternative> take() { return std::move(list_); }

 private:
  const Asked& asked_;
  Seen seen_;
  std::vector<bool> token_;  // by position
  std::vector<Alternative> list_;
};

}  // namespace ringcheck::parity
