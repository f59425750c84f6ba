// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/mask.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cp/layout/positions.h"
#include "property_tests/parity/case/generators.h"
#include "property_tests/property.h"

namespace ringcheck {
namespace {

// Number of keys that the query at position q sees, key by key.
int64_t seen_by(const Mask& mask, int64_t q) {
  int64_t keys = 0;
  for (int64_t k = 0; k < mask.length + 4; ++k)
    keys += visible(mask, q, k);
  return keys;
}

int64_t pairs_of(const Mask& mask) {
  return visible_pairs(mask, {{0, mask.length + 4}}, {{0, mask.length + 4}});
}

Mask draw() {
  const int64_t length = *gen::between(1, 24).as("length");
  return *gen::mask(length).as("mask");
}

// Slots before the start, at or beyond the length see nothing and are seen by nobody.
RC_GTEST_PROP(Mask, NothingIsVisibleOutsideTheSequence, ()) {
  const Mask mask = draw();
  const int64_t inside = *gen::between(0, mask.length - 1).as("inside");
  for (const int64_t outside : {int64_t{-1}, mask.length, mask.length + 1, 2 * mask.length}) {
    RC_ASSERT(!visible(mask, inside, outside));
    RC_ASSERT(!visible(mask, outside, inside));
    RC_ASSERT(!visible(mask, outside, outside));
  }
}

// Every token sees itself; a slot without a token does not.
RC_GTEST_PROP(Mask, ATokenSeesItself, ()) {
  const Mask mask = draw();
  for (int64_t slot = 0; slot < mask.length; ++slot)
    RC_ASSERT(visible(mask, slot, slot) == is_token(mask, slot));
}

// Only full, docfull and prefix masks let a query see a later key.
RC_GTEST_PROP(Mask, CausalMasksNeverLookAhead, ()) {
  const Mask mask = draw();
  const bool ahead =
      std::holds_alternative<Full>(mask.kind) || std::holds_alternative<DocumentFull>(mask.kind);
  const auto* prefix = std::get_if<Prefix>(&mask.kind);
  for (int64_t q = 0; q < mask.length; ++q)
    for (int64_t k = q + 1; k < mask.length; ++k) {
      const bool may =
          is_token(mask, q) && is_token(mask, k) &&
          (ahead ? documents(mask) == nullptr ||
                       place(*documents(mask), q).document == place(*documents(mask), k).document
                 : prefix != nullptr && k < prefix->length);
      RC_ASSERT(visible(mask, q, k) == may);
    }
}

// Full: S keys a query. Causal: q + 1. Window: min(q + 1, w). Prefix: max(q + 1, n).
RC_GTEST_PROP(Mask, CountsFollowTheClosedForms, ()) {
  const int64_t s = *gen::between(1, 24).as("length");
  const int64_t w = *gen::between(1, 30).as("width"), n = *gen::between(0, 30).as("prefix");
  for (int64_t q = 0; q < s; ++q) {
    RC_ASSERT(seen_by({Full{}, s}, q) == s);
    RC_ASSERT(seen_by({Causal{}, s}, q) == q + 1);
    RC_ASSERT(seen_by({Window{w}, s}, q) == std::min(q + 1, w));
    RC_ASSERT(seen_by({Prefix{n}, s}, q) == std::max(q + 1, std::min(n, s)));
  }
  RC_ASSERT(pairs_of({Full{}, s}) == s * s);
  RC_ASSERT(pairs_of({Causal{}, s}) == s * (s + 1) / 2);
  const int64_t m = std::min(w, s), p = std::min(n, s);
  RC_ASSERT(pairs_of({Window{w}, s}) == m * (m + 1) / 2 + (s - m) * m);
  RC_ASSERT(pairs_of({Prefix{n}, s}) == p * p + (s - p) * (s + p + 1) / 2);
}

// Documents: the tokens of each see what they would see in a sequence of their own.
RC_GTEST_PROP(Mask, DocumentsAreSequencesOfTheirOwn, ()) {
  const int64_t length = *gen::between(1, 24).as("length");
  const Documents packed = *gen::documents(length);
  const bool causal = *gen::flag().as("causal");
  Mask mask{DocumentFull{packed}, length};
  if (causal)
    mask.kind = DocumentCausal{packed};
  int64_t begin = 0, pairs = 0;
  for (const Document& document : packed) {
    const int64_t l = document.length;
    pairs += causal ? l * (l + 1) / 2 : l * l;
    for (int64_t i = 0; i < document.slots; ++i)
      RC_ASSERT(seen_by(mask, begin + i) == (i >= l ? 0 : causal ? i + 1 : l));
    begin += document.slots;
  }
  RC_ASSERT(begin == mask.length);
  RC_ASSERT(pairs_of(mask) == pairs);
}

// A window as wide as the sequence, a prefix of nothing and one document are causal masks.
RC_GTEST_PROP(Mask, LimitsAreTheCausalMask, ()) {
  const int64_t s = *gen::between(1, 24).as("length");
  for (int64_t q = 0; q < s; ++q)
    for (int64_t k = 0; k < s; ++k) {
      const bool causal = visible({Causal{}, s}, q, k);
      RC_ASSERT(visible({Window{s}, s}, q, k) == causal);
      RC_ASSERT(visible({Prefix{0}, s}, q, k) == causal);
      RC_ASSERT(visible({DocumentCausal{{{s, s}}}, s}, q, k) == causal);
      RC_ASSERT(visible({DocumentFull{{{s, s}}}, s}, q, k));
      RC_ASSERT(visible({Prefix{s}, s}, q, k));
    }
}

// place names the document, the index in it and whether there is a token; -1 behind the last.
TEST(Mask, PlaceFollowsTheDocuments) {
  const Documents packed{{3, 4}, {0, 1}, {2, 2}};
  const int64_t document[] = {0, 0, 0, 0, 1, 2, 2, -1}, token[] = {0, 1, 2, 3, 0, 0, 1, 0};
  const bool is[] = {true, true, true, false, false, true, true, false};
  for (int64_t slot = 0; slot < 8; ++slot) {
    EXPECT_EQ(place(packed, slot).document, document[slot]);
    EXPECT_EQ(place(packed, slot).token, token[slot]);
    EXPECT_EQ(place(packed, slot).is_token, is[slot]);
  }
}

}  // namespace
}  // namespace ringcheck
