// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/diagnosis/alternatives.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "parity/judge/diagnosis/alternatives_of_ranks.h"

namespace ringcheck::parity {
namespace {

void add_masks(const Asked& asked, AlternativeList& list) {
  const Seen right = list.seen();
  list.mask("there were no mask", Full{});
  list.mask("the mask were causal", Causal{});
  list.pairs("no query saw its own key", [right](int64_t q, int64_t k) { return q != k && right(q, k); });
  list.pairs("each query saw the key after it, too", [right](int64_t q, int64_t k) { return right(q, k) || k == q + 1; });
  if (const auto* window = std::get_if<Window>(&asked.mask.kind)) {
    const int64_t width = window->width;
    list.mask("the window were one key wider", Window{width + 1});
    if (width > 1) list.mask("the window were one key narrower", Window{width - 1});
    list.pairs("the window reached to both sides", [width](int64_t q, int64_t k) { return std::abs(q - k) < width; });
  }
  if (const auto* causal = std::get_if<DocumentCausal>(&asked.mask.kind))
    list.mask("documents were not causal inside", DocumentFull{causal->documents});
  if (const auto* full = std::get_if<DocumentFull>(&asked.mask.kind))
    list.mask("documents were causal inside", DocumentCausal{full->documents});
  if (documents(asked.mask))
    list.slots("pads of documents were tokens", [kind = asked.mask.kind](int64_t q, int64_t k) {
      return std::visit([&](const auto& of) { return of(q, k); }, kind);
    });
}

// Equal ones are one alternative.
void add_scales(const Asked& asked, AlternativeList& list) {
  const double right = asked.right.scale, usual = 1 / std::sqrt(asked.test.dim);
  const std::pair<const char*, double> scales[] = {
      {"the scale of the scores were 1/sqrt(dim)", usual},
      {"scores were not scaled", 1},
      {"the scale of the scores were 1/sqrt(heads dim)", usual / std::sqrt(asked.test.q_heads)},
      {"the scale of the scores were 1/sqrt(dim of values)", 1 / std::sqrt(asked.test.dim_v)},
      {"scores were scaled twice", right * right},
      {"the scale of the scores were 1/dim", usual * usual},
      {"exp2 stood in place of exp", right * std::numbers::ln2},
      {"scores were multiplied by 1/ln 2 for exp2, and exp taken", right * std::numbers::log2e},
      {"scores were negated", -right}};
  const auto equal = [](double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(a); };
  std::vector<double> told{right};
  for (const auto& [words, scale] : scales) {
    if (std::ranges::any_of(told, [&](double one) { return equal(one, scale); })) continue;
    told.push_back(scale);
    std::string all;
    for (const auto& [others, value] : scales)
      if (equal(value, scale)) all += (all.empty() ? "" : ", or ") + std::string(others);
    list.add(all, [scale](Attending& how) { how.scale = scale; });
  }
}

void add_rope(const Asked& asked, AlternativeList& list) {
  using Pairing = reference::Rope::Pairing;
  const Pairing right = asked.right.rope.pairing;
  if (right == Pairing::kNone) return;
  const auto changed = [&](const char* words, const AlternativeList::Change& change) { list.add(words, change); };
  changed("nothing were rotated", [](Attending& how) { how.rope.pairing = Pairing::kNone; });
  changed("queries alone were rotated", [](Attending& how) { how.turn_k = false; });
  changed("keys alone were rotated", [](Attending& how) { how.turn_q = false; });
  changed("gradients were not rotated back", [](Attending& how) { how.back = 0; });
  changed("gradients were rotated forward once more, and not back", [](Attending& how) { how.back = 1; });
  changed(right == Pairing::kHalf ? "channels were paired with their neighbours, interleaved" : "channels were paired by halves",
          [right](Attending& how) { how.rope.pairing = right == Pairing::kHalf ? Pairing::kInterleaved : Pairing::kHalf; });
  if (asked.right.rope.base != 10000) changed("the base of the rotary embedding were 10000", [](Attending& how) { how.rope.base = 10000; });
  if (asked.right.rope.scaled) changed("frequencies were not scaled for Llama 3.1", [](Attending& how) { how.rope.scaled = false; });
}

void add_gradients(const Asked& asked, AlternativeList& list) {
  list.add("D, the row sum of dO O, were left out", [](Attending& how) { how.of_d = 0; });
  list.backward("the backward pass had no mask", [](int64_t, int64_t) { return true; });
  list.add("D, the row sum of dO O, were added and not subtracted", [](Attending& how) { how.of_d = -1; });
  list.add("dO were 1 everywhere", [](Attending& how) { how.d_o = at::ones_like(how.d_o); });
  if (asked.ranks() == 1) return;
  const at::Tensor owner = at::tensor(asked.owner, at::kLong);
  const at::Tensor own = owner.unsqueeze(1) == owner.unsqueeze(0);
  const Seen right = list.seen();
  list.backward("the backward pass had a mask for own keys alone",
                [right, &asked](int64_t q, int64_t k) { return asked.owner[q] != asked.owner[k] || right(q, k); });
  list.add("D, the row sum of dO O, were divided by the number of ranks", [world = asked.ranks()](Attending& how) { how.of_d = 1.0 / world; });
  list.add("gradients of keys held only what the queries of their own rank add, not summed over ranks",
           [own](Attending& how) { how.in_dkv = own; });
  list.add("gradients of keys lacked what the queries of their own rank add", [own](Attending& how) { how.in_dkv = ~own; });
  list.add("dq held only what the keys of its own rank add", [own](Attending& how) { how.in_dq = own; });
  list.add("dq lacked what the keys of its own rank add", [own](Attending& how) { how.in_dq = ~own; });
  list.add("the backward pass took the LSE of each block in place of that of all keys", [owner](Attending& how) { how.blocks = owner; });
  if (asked.ranks() > kMostRanks) return;
  for (int64_t rank = 0; rank < asked.ranks(); ++rank)
    list.add(c10::str("gradients of keys lacked what the queries of rank ", rank, " add"),
             [others = (owner != rank).unsqueeze(1).expand_as(own)](Attending& how) { how.in_dkv = others; });
  for (int64_t step = 1; step < asked.ranks() && asked.ranks() > 2; ++step) {
    const at::Tensor others = (owner.unsqueeze(1) - owner.unsqueeze(0)).remainder(asked.ranks()) != step;
    list.add(c10::str("gradients lacked the terms of step ", step, " of a ring"),
             [others](Attending& how) { how.in_dq = how.in_dkv = others; });
  }
}

// O of blocks that are not merged by their LSE.
void add_merges(const Asked& asked, AlternativeList& list) {
  if (asked.ranks() == 1 || asked.ranks() > kMostRanks) return;
  const auto sum = [&asked](bool mean) {
    const at::Tensor owner = at::tensor(asked.owner, at::kLong);
    reference::Tensors result;
    result.o = at::zeros_like(asked.right.d_o);
    at::Tensor blocks = at::zeros({asked.tokens(), 1}, at::kDouble);
    for (int64_t rank = 0; rank < asked.ranks(); ++rank) {
      Attending how = asked.right;
      how.visible = how.visible & (owner == rank);
      result.o += attended(how).o;
      blocks += how.visible.any(1, true);
    }
    if (mean) result.o /= blocks.clamp_min(1);
    return result;
  };
  list.add("O of blocks were added up, not merged by their LSE", [sum] { return sum(false); });
  list.add("O of blocks were averaged, not merged by their LSE", [sum] { return sum(true); });
  list.add("LSE were the largest of those of the blocks", [&asked] {
    const at::Tensor owner = at::tensor(asked.owner, at::kLong);
    reference::Tensors result;
    for (int64_t rank = 0; rank < asked.ranks(); ++rank) {
      Attending how = asked.right;
      how.visible = how.visible & (owner == rank);
      const at::Tensor lse = attended(how).lse;
      result.lse = result.lse.defined() ? at::maximum(result.lse, lse) : lse;
    }
    return result;
  });
}

// Each query head of the group with another key-value head. Those that are the same for this one are one alternative.
void add_heads(const Asked& asked, AlternativeList& list) {
  const int64_t heads = asked.test.kv_heads, group = asked.heads(), world = asked.ranks(), own = heads / world, queries = own * group;
  if (heads == 1) return;
  const std::pair<const char*, std::function<int64_t(int64_t)>> readings[] = {
      {"query head h read key-value head h mod their number", [=](int64_t h) { return h % heads; }},
      {"query head h of a rank read its key-value head h mod their number",
       [=](int64_t h) { return own > 1 && heads % world == 0 ? h / queries * own + h % queries % own : h / group; }},
      {"all query heads read the first key-value head", [](int64_t) { return 0; }},
      {"query heads read the key-value head after theirs", [=](int64_t h) { return (h / group + 1) % heads; }},
      {"query heads read the key-value head before theirs", [=](int64_t h) { return (h / group + heads - 1) % heads; }}};
  std::vector<std::pair<std::vector<int64_t>, std::string>> told{{std::vector<int64_t>(group, asked.head), ""}};
  for (const auto& [words, head_of] : readings) {
    std::vector<int64_t> of(group);
    for (int64_t i = 0; i < group; ++i) of[i] = head_of(asked.head * group + i);
    const auto same = std::ranges::find(told, of, &std::pair<std::vector<int64_t>, std::string>::first);
    if (same == told.end()) told.emplace_back(of, words);
    else same->second += std::string(", or ") + words;
  }
  for (size_t i = 1; i < told.size(); ++i)
    list.add(told[i].second, [&asked, index = at::tensor(told[i].first, at::kLong)](Attending& how) {
      how.k = asked.k.index_select(0, index);
      how.v = asked.v.index_select(0, index);
      how.own_keys = false;
    });
}

}  // namespace

std::vector<Alternative> alternatives(const Asked& asked) {
  AlternativeList list(asked);
  add_masks(asked, list);
  add_scales(asked, list);
  add_gradients(asked, list);
  add_merges(asked, list);
  add_alternatives_of_ranks(asked, list);
  add_rope(asked, list);
  add_heads(asked, list);
  return list.take();
}

}  // namespace ringcheck::parity
