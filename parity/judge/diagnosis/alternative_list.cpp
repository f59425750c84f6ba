// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/diagnosis/alternative_list.h"

#include <ATen/ATen.h>

#include <limits>

namespace ringcheck::parity {
namespace {

at::Tensor table(int64_t tokens, const AlternativeList::Pairs& visible) {
  at::Tensor pairs = at::empty({tokens, tokens}, at::kBool);
  bool* pair = pairs.mutable_data_ptr<bool>();
  for (int64_t q = 0; q < tokens; ++q)
    for (int64_t k = 0; k < tokens; ++k) *pair++ = visible(q, k);
  return pairs;
}

}  // namespace

AlternativeList::AlternativeList(const Asked& asked) : asked_(asked), seen_(asked.right.visible) {
  for (int64_t p = 0; p < asked.tokens(); ++p) token_.push_back(is_token(asked.mask, p));
}

void AlternativeList::add(std::string words, const Change& change) {
  list_.push_back({std::move(words), [&right = asked_.right, change] {
                     Attending how = right;
                     change(how);
                     return attended(how);
                   }});
}

void AlternativeList::add(std::string words, std::function<reference::Tensors()> answer) {
  list_.push_back({std::move(words), std::move(answer)});
}

void AlternativeList::slots(std::string words, const Pairs& visible) {
  add(std::move(words), [tokens = asked_.tokens(), visible](Attending& how) { how.visible = table(tokens, visible); });
}

void AlternativeList::pairs(std::string words, const Pairs& visible) {
  slots(std::move(words), [token = token_, visible](int64_t q, int64_t k) { return token[q] && token[k] && visible(q, k); });
}

void AlternativeList::backward(std::string words, const Pairs& visible) {
  add(std::move(words), [tokens = asked_.tokens(), token = token_, visible](Attending& how) {
    how.visible_backward = table(tokens, [&](int64_t q, int64_t k) { return token[q] && token[k] && visible(q, k); });
  });
}

void AlternativeList::mask(std::string words, const decltype(Mask::kind)& kind) {
  if (kind == asked_.mask.kind) return;
  pairs(std::move(words), [kind](int64_t q, int64_t k) { return std::visit([&](const auto& of) { return of(q, k); }, kind); });
}

void AlternativeList::positions(const std::string& words, const Moved& moved) {
  const Pairs visible = [seen = seen_, moved](int64_t q, int64_t k) { return seen(moved(q), moved(k)); };
  pairs(words, visible);
  pairs(words + ", of queries alone", [seen = seen_, moved](int64_t q, int64_t k) { return seen(moved(q), k); });
  pairs(words + ", of keys alone", [seen = seen_, moved](int64_t q, int64_t k) { return seen(q, moved(k)); });
  if (asked_.right.rope.pairing == reference::Rope::Pairing::kNone) return;
  const Change turn = [seen = seen_, moved](Attending& how) {
    const at::Tensor right = how.q_positions;
    at::Tensor others = right.clone();
    for (int64_t p = 0; p < others.size(0); ++p)
      if (const int64_t there = moved(p); seen.is_there(there)) others[p] = right[there];
    how.q_positions = how.k_positions = others;
  };
  add(words + ", by the rotary embedding", turn);
  add(words + ", by mask and rotary embedding", [tokens = asked_.tokens(), visible, turn](Attending& how) {
    turn(how);
    how.visible = table(tokens, visible);
  });
}

void AlternativeList::rows(std::string words, const Moved& from) {
  add(std::move(words), [&asked = asked_, seen = seen_, from] {
    const int64_t tokens = asked.tokens();
    std::vector<int64_t> index(tokens);
    at::Tensor none = at::zeros({tokens}, at::kBool);
    for (int64_t p = 0; p < tokens; ++p)
      if (const int64_t there = from(p); seen.is_there(there)) index[p] = there;
      else none[p] = true;
    const auto taken = [&](const at::Tensor& x) { return x.index_select(1, at::tensor(index, at::kLong)); };
    reference::Tensors x = asked.answer;
    for (at::Tensor* tensor : {&x.o, &x.dq, &x.dk, &x.dv}) *tensor = taken(*tensor).masked_fill(none.unsqueeze(-1), 0);
    x.lse = taken(x.lse).masked_fill(none, -std::numeric_limits<double>::infinity());
    return x;
  });
}

}  // namespace ringcheck::parity
