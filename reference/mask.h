// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

namespace ringcheck {

// A packed document: `length` tokens, followed by `slots - length` pad slots.
struct Document {
  int64_t length = 0;
  int64_t slots = 0;
  bool operator==(const Document&) const = default;
};
using Documents = std::vector<Document>;

// Where a slot of a packed sequence lies: slots are global positions, the documents follow each
// other from slot 0 on.
struct Place {
  int64_t document = -1;  // -1: behind the last document
  int64_t token = 0;      // index within the document; >= its length on a pad slot
  bool is_token = false;
};

// O(documents). `slot` is not negative.
inline Place place(const Documents& documents, int64_t slot) {
  int64_t begin = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(documents.size()); ++d) {
    if (slot < begin + documents[d].slots)
      return {d, slot - begin, slot - begin < documents[d].length};
    begin += documents[d].slots;
  }
  return {};
}

// A mask is the set of (query, key) pairs of global positions that may attend, each kind a
// predicate.
struct Full {
  bool operator()(int64_t, int64_t) const { return true; }
  bool operator==(const Full&) const = default;
};
struct Causal {
  bool operator()(int64_t q, int64_t k) const { return k <= q; }
  bool operator==(const Causal&) const = default;
};
// A query sees itself and the width - 1 keys before it.
struct Window {
  int64_t width = 1;
  bool operator()(int64_t q, int64_t k) const { return k <= q && q - k < width; }
  bool operator==(const Window&) const = default;
};
// Packed documents, causal inside each.
struct DocumentCausal {
  Documents documents;
  bool operator()(int64_t q, int64_t k) const {
    return k <= q && place(documents, q).document == place(documents, k).document;
  }
  bool operator==(const DocumentCausal&) const = default;
};
// Packed documents, every token of a document sees all of it.
struct DocumentFull {
  Documents documents;
  bool operator()(int64_t q, int64_t k) const {
    return place(documents, q).document == place(documents, k).document;
  }
  bool operator==(const DocumentFull&) const = default;
};
// Prefix-LM: everybody sees the first `length` keys, and causally beyond them.
struct Prefix {
  int64_t length = 0;
  bool operator()(int64_t q, int64_t k) const { return k < length || k <= q; }
  bool operator==(const Prefix&) const = default;
};

// The mask of a sequence of `length` slots. Slots at or beyond `length`, and pad slots inside a
// document, hold no token: they see nothing and nobody sees them.
struct Mask {
  std::variant<Full, Causal, Window, DocumentCausal, DocumentFull, Prefix> kind;
  int64_t length = 0;
  bool operator==(const Mask&) const = default;
};

// The packed documents of a mask; null where the sequence is one document.
inline const Documents* documents(const Mask& mask) {
  if (const auto* m = std::get_if<DocumentCausal>(&mask.kind)) return &m->documents;
  if (const auto* m = std::get_if<DocumentFull>(&mask.kind)) return &m->documents;
  return nullptr;
}

inline bool is_token(const Mask& mask, int64_t slot) {
  if (slot < 0 || slot >= mask.length) return false;
  const Documents* packed = documents(mask);
  return packed == nullptr || place(*packed, slot).is_token;
}

// May the query at position q attend to the key at position k? This predicate, and place(), on which it stands and
// by which both rotate, are all that the implementation under test and the reference share: the self-test before
// every run holds both against tables of its own (parity/faults/self_test/plain_attention.cpp).
inline bool visible(const Mask& mask, int64_t q, int64_t k) {
  return is_token(mask, q) && is_token(mask, k) &&
         std::visit([&](const auto& kind) { return kind(q, k); }, mask.kind);
}

}  // namespace ringcheck
