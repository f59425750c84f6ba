// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/conditions/facts.h"

#include <algorithm>

#include "parity/case/balance/own_balance.h"
#include "parity/case/data_family.h"
#include "parity/case/part.h"

namespace ringcheck::parity {
namespace {

std::string rope_kind(const Rope& rope) {
  if (rope.pairing == Rope::Pairing::kNone)
    return "none";
  const std::string pairing = rope.pairing == Rope::Pairing::kHalf ? "half" : "interleaved";
  return pairing + (rope.llama3 ? ", llama3" : "");
}

// The part of the documents, or of the whole sequence, that holds tokens.
std::vector<Interval> runs_of_tokens(const Mask& mask) {
  const Documents* packed = documents(mask);
  if (packed == nullptr)
    return {{0, mask.length}};
  std::vector<Interval> runs;
  int64_t begin = 0;
  for (const Document& document : *packed) {
    if (document.length > 0)
      runs.push_back({begin, begin + document.length});
    begin += document.slots;
  }
  return runs;
}

// How many positions of a span lie in the interval.
int64_t common(const Span& span, const Interval& run) {
  const auto below = [&](int64_t end) {  // of the span
    return std::clamp<int64_t>((end - span.begin + span.stride - 1) / span.stride, 0, span.count);
  };
  return run.end <= span.begin ? 0 : below(run.end) - below(std::max(run.begin, span.begin));
}

int64_t tokens_of(const Span& span, const std::vector<Interval>& runs) {
  int64_t tokens = 0;
  for (const Interval& run : runs)
    tokens += common(span, run);
  return tokens;
}

bool is_telling(const Case& test) {
  const auto family = DataFamilies::all().find(test.data);
  if (scale_of(test) == 0 || family == DataFamilies::all().end() || !family->second.silent.empty())
    return false;
  const Positions all{{0, test.seq}};
  int64_t tokens = 0, pairs = 0;
  for (const Entries& some : entries_of(test)) {
    for (const Interval& run : runs_of_tokens(some.mask))
      tokens += some.count * (run.end - run.begin);
    pairs += some.count * visible_pairs(some.mask, all, all);
  }
  return tokens > 0 && 2 * pairs >= 3 * tokens;
}

}  // namespace

Facts::Facts(const Case& of) : test(of) {
  const Mask mask = mask_of(test);
  if (const Documents* documents_of = documents(mask))
    packed = *documents_of;
  for (const char* name : {"strategy", "balance", "dtype", "data", "world", "kernel", "world_kind"})
    traits[name] = part(name).print(test);
  const std::string text = mask_text(test.mask);
  traits["mask"] = text.substr(0, text.find('['));
  traits["rope"] = rope_kind(test.rope);

  group = test.q_heads / test.kv_heads;
  granule = granule_of(test);
  const Layout layout = layout_of(test);
  shard = layout.queries[0].count();
  const Span& first = layout.queries[0][0];
  piece = first.stride == 1 ? first.count : 1;

  const std::vector<Interval> runs = runs_of_tokens(mask);
  for (const Positions& own : layout.queries) {
    int64_t held = 0, without = 0;
    for (const Span& span : own) {
      const int64_t here = tokens_of(span, runs);
      held += here;
      without += here == 0;
    }
    tokens.push_back(held);
    piece_of_pads = piece_of_pads || (held > 0 && without > 0);
  }
  telling = is_telling(test);
  farthest = test.seq - 1;
  if (!packed.empty())
    farthest = std::ranges::max(packed, {}, &Document::length).length - 1;
}

}  // namespace ringcheck::parity
