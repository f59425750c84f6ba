// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Where the edges of a mask fall on the pieces in which ranks hold the sequence.
#include <algorithm>
#include <optional>

#include "parity/case/conditions/condition.h"

namespace ringcheck::parity {
namespace {

constexpr auto kUsual = Condition::Rank::kUsual;
constexpr auto kDangerous = Condition::Rank::kDangerous;
constexpr auto kWorst = Condition::Rank::kWorst;

// The sequence is cut into pieces that have an inside.
bool has_pieces(const Facts& f) { return f.test.world > 1 && f.piece > 1; }

// The width of a window that hides something, 0 elsewhere.
int64_t width(const Facts& f) {
  const auto* window = std::get_if<Window>(&f.test.mask);
  return window != nullptr && window->width < f.test.seq ? window->width : 0;
}

std::optional<int64_t> prefix(const Facts& f) {
  const auto* prefix = std::get_if<Prefix>(&f.test.mask);
  return prefix != nullptr ? std::optional(prefix->length) : std::nullopt;
}

// Whether any document has the property, given where it begins and whether it is the last.
template <class Property>
bool any_document(const Facts& f, const Property& property) {
  int64_t begin = 0;
  for (size_t i = 0; i < f.packed.size(); ++i) {
    if (property(f.packed[i], begin, i + 1 == f.packed.size()))
      return true;
    begin += f.packed[i].slots;
  }
  return false;
}

const Conditions kWindows{
    {"window of one key", kUsual, [](const Facts& f) { return width(f) == 1; }},
    {"window as wide as the sequence", kUsual,
     [](const Facts& f) {
       const auto* window = std::get_if<Window>(&f.test.mask);
       return window != nullptr && window->width >= f.test.seq;
     }},
    {"window narrower than a block", kDangerous,
     [](const Facts& f) { return has_pieces(f) && width(f) > 0 && width(f) < f.piece; }},
    {"window over several blocks", kDangerous,
     [](const Facts& f) { return has_pieces(f) && width(f) > 2 * f.piece; }},
    {"window's first hidden key on a block's edge", kWorst,
     [](const Facts& f) { return has_pieces(f) && width(f) > 0 && width(f) % f.piece == 0; }},
    {"window's first key on a block's edge", kWorst,
     [](const Facts& f) { return has_pieces(f) && width(f) > 1 && width(f) % f.piece == 1; }},
};

const Conditions kPrefixes{
    {"prefix of no key", kUsual, [](const Facts& f) { return prefix(f) == 0; }},
    {"prefix of all keys and more", kUsual,
     [](const Facts& f) { return prefix(f) && *prefix(f) >= f.test.seq; }},
    {"prefix up to a block's edge", kDangerous,
     [](const Facts& f) {
       return has_pieces(f) && prefix(f) && *prefix(f) > 0 && *prefix(f) < f.test.seq &&
              *prefix(f) % f.piece == 0;
     }},
    {"prefix that ends inside a block", kUsual,
     [](const Facts& f) {
       return has_pieces(f) && prefix(f) && *prefix(f) < f.test.seq && *prefix(f) % f.piece != 0;
     }},
};

const Conditions kDocuments{
    {"one document", kUsual, [](const Facts& f) { return f.packed.size() == 1; }},
    {"8 documents and more", kUsual, [](const Facts& f) { return f.packed.size() >= 8; }},
    {"an empty document before others", kWorst,
     [](const Facts& f) {
       return any_document(
           f, [](const Document& d, int64_t, bool last) { return d.length == 0 && !last; });
     }},
    {"an empty document at the end", kUsual,
     [](const Facts& f) { return !f.packed.empty() && f.packed.back().length == 0; }},
    {"a document of one token", kDangerous,
     [](const Facts& f) {
       return any_document(f, [](const Document& d, int64_t, bool) { return d.length == 1; });
     }},
    {"pads between documents", kWorst,
     [](const Facts& f) {
       return any_document(f, [](const Document& d, int64_t, bool last) {
         return d.length > 0 && d.length < d.slots && !last;
       });
     }},
    {"RoPE of documents with pads between them", kDangerous,
     [](const Facts& f) {
       return f.test.rope.pairing != Rope::Pairing::kNone &&
              any_document(f, [](const Document& d, int64_t, bool last) {
                return d.length < d.slots && !last;
              });
     }},
    {"a document from a block's edge", kDangerous,
     [](const Facts& f) {
       return has_pieces(f) && any_document(f, [&](const Document&, int64_t begin, bool) {
                return begin > 0 && begin % f.piece == 0;
              });
     }},
    {"a document inside a block", kUsual,
     [](const Facts& f) {
       return has_pieces(f) && any_document(f, [&](const Document& d, int64_t begin, bool) {
                return d.length > 0 && d.slots < f.piece &&
                       begin / f.piece == (begin + d.slots - 1) / f.piece;
              });
     }},
    {"a document over three blocks and more", kDangerous,
     [](const Facts& f) {
       return has_pieces(f) && any_document(f, [&](const Document& d, int64_t begin, bool) {
                return d.length > 0 && (begin + d.length - 1) / f.piece - begin / f.piece >= 2;
              });
     }},
};

}  // namespace

Conditions mask_conditions() {
  Conditions all;
  for (const Conditions& rows : {kWindows, kPrefixes, kDocuments})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

}  // namespace ringcheck::parity
