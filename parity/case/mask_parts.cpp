// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "parity/case/balance/own_balance.h"
#include "parity/case/part.h"
#include "parity/case/text.h"

namespace ringcheck::parity {
namespace {

using MaskKind = decltype(Mask::kind);

// Two to six documents that fill `slots`; with pads, some of them end in some.
Documents draw_documents(int64_t slots, bool pads, const Draw& draw) {
  const int64_t count = std::min(draw(2, 6), slots);
  std::vector<int64_t> cuts{0, slots};
  while (static_cast<int64_t>(cuts.size()) < count + 1) {
    const int64_t cut = draw(1, slots - 1);
    if (std::find(cuts.begin(), cuts.end(), cut) == cuts.end()) cuts.push_back(cut);
  }
  std::sort(cuts.begin(), cuts.end());
  Documents documents;
  for (size_t i = 1; i < cuts.size(); ++i) {
    const int64_t taken = cuts[i] - cuts[i - 1];
    const bool padded = pads && draw(0, 2) > 0;
    documents.push_back({padded ? draw((taken + 1) / 2, taken) : taken, taken});
  }
  return documents;
}

// Documents of any length over `slots`; some end in pads, some hold no token at all.
Documents draw_any_documents(int64_t slots, const Draw& draw) {
  Documents packed;
  for (int64_t left = slots; left > 0; left -= packed.back().slots) {
    const int64_t taken = draw(1, left);
    const bool pads = draw(0, 2) == 2;
    packed.push_back({pads ? draw(0, taken) : taken, taken});
  }
  return packed;
}

// Packed documents of the sizes that are drawn; some end in pads.
Documents draw_sized_documents(int64_t slots, const std::function<int64_t()>& size,
                               const Draw& draw) {
  Documents packed;
  for (int64_t left = slots; left > 0; left -= packed.back().slots) {
    const int64_t taken = std::min(left, size());
    packed.push_back({draw(0, 3) == 0 ? draw((taken + 1) / 2, taken) : taken, taken});
  }
  return packed;
}

// One of them without a token: one more where there is one only.
Documents with_an_empty_one(Documents packed, const Draw& draw) {
  if (packed.size() == 1 && packed[0].slots > 1) {
    const int64_t slots = packed[0].slots, taken = draw(1, slots - 1);
    packed = {{0, taken}, {slots - taken, slots - taken}};
  } else if (packed.size() > 1) {
    packed[static_cast<size_t>(draw(0, static_cast<int64_t>(packed.size()) - 1))].length = 0;
  }
  return packed;
}

// The slots of a rank that follow each other.
int64_t piece_of(const Case& test) {
  const Layout layout = layout_of(test);
  const Span& first = layout.queries[0][0];
  return first.stride == 1 ? first.count : 1;
}

// Edges at multiples of what the ranks hold in one piece; a window also one beside it.
MaskKind draw_at_pieces(const Case& test, const std::string& kind, const Draw& draw) {
  const int64_t piece = piece_of(with(test, [](Case& c) { c.mask = Causal{}; }));
  const int64_t edge = piece * draw(1, std::max<int64_t>(1, (test.seq - 1) / piece));
  if (kind.starts_with("window")) return Window{edge + draw(0, 1)};
  if (kind.starts_with("prefix")) return Prefix{edge};
  const auto size = [&] { return draw(0, 2) == 0 ? draw(1, 2 * piece) : piece * draw(1, 3); };
  const Documents packed = draw_sized_documents(test.seq, size, draw);
  if (kind.starts_with("docfull")) return DocumentFull{packed};
  return DocumentCausal{packed};
}

Documents draw_documents_of(const std::string& kind, int64_t slots, const Draw& draw) {
  if (kind.ends_with(":any")) return draw_any_documents(slots, draw);
  const auto few = [&] { return draw(1, std::max<int64_t>(2, slots / 8)); };
  if (kind.ends_with(":short")) return draw_sized_documents(slots, few, draw);
  if (kind.ends_with(":empty"))
    return with_an_empty_one(draw_documents(slots, true, draw), draw);
  return draw_documents(slots, kind.ends_with(":pads"), draw);
}

// Where something changes: at the width of a shard and of the sequence.
Window draw_edge_window(const Case& test, const Draw& draw) {
  const int64_t granule = granule_of(test);
  const int64_t shard = padded_length(test.seq, granule) / test.world;
  const int64_t edges[] = {1, shard - 1, shard, shard + 1, test.seq, test.seq + 1};
  return Window{std::max<int64_t>(1, edges[draw(0, 5)])};
}

MaskKind draw_mask(const Case& test, const std::string& kind, const Draw& draw) {
  const int64_t length = test.seq;
  if (kind == "full") return Full{};
  if (kind == "causal") return Causal{};
  if (kind.ends_with(":piece")) return draw_at_pieces(test, kind, draw);
  if (kind == "window") return Window{draw(1, length)};
  if (kind == "window:any") return Window{draw(1, length + 1)};
  if (kind == "window:edge") return draw_edge_window(test, draw);
  if (kind == "prefix") return Prefix{draw(0, length)};
  if (kind == "prefix:any") return Prefix{draw(0, length + 3)};
  const Documents documents = draw_documents_of(kind, length, draw);
  if (kind.starts_with("docfull")) return DocumentFull{documents};
  if (kind.starts_with("doc")) return DocumentCausal{documents};
  throw std::logic_error("unknown kind of mask " + kind);
}

Case with_documents(Case test, const Documents& packed) {
  if (std::holds_alternative<DocumentFull>(test.mask)) test.mask = DocumentFull{packed};
  else test.mask = DocumentCausal{packed};
  test.seq = slots_of(packed);
  return test;
}

std::vector<Case> simpler_documents(const Case& test, const Documents& packed) {
  std::vector<Case> list;
  const auto add = [&](const std::function<void(Documents&)>& change) {
    Documents changed = packed;
    change(changed);
    list.push_back(with_documents(test, changed));
  };
  for (size_t i = 0; i < packed.size(); ++i) {
    if (packed.size() > 1)
      add([&](Documents& d) { d.erase(d.begin() + static_cast<std::ptrdiff_t>(i)); });
    add([&](Documents& d) { d[i].length = d[i].slots; });
    for (const int64_t slots : below(packed[i].slots, 1))
      add([&](Documents& d) { d[i] = {std::min(d[i].length, slots), slots}; });
  }
  return list;
}

std::vector<Case> simpler_mask(const Case& test) {
  std::vector<Case> list;
  const auto add = [&](const MaskKind& mask) {
    list.push_back(with(test, [&](Case& c) { c.mask = mask; }));
  };
  add(Full{});
  if (!std::holds_alternative<Full>(test.mask)) add(Causal{});
  if (const auto* window = std::get_if<Window>(&test.mask))
    for (const int64_t width : below(window->width, 1)) add(Window{width});
  if (const auto* prefix = std::get_if<Prefix>(&test.mask))
    for (const int64_t length : below(prefix->length, 0)) add(Prefix{length});
  const Mask mask = mask_of(test);
  if (const Documents* packed = documents(mask))
    for (Case& fewer : simpler_documents(test, *packed)) list.push_back(std::move(fewer));
  return list;
}

}  // namespace

std::vector<Part> mask_parts() {
  const std::set<std::string> names{"full", "causal", "window", "doc", "docfull", "prefix"};
  return {{.name = "mask",
           .option = "mask",
           .prefix = "",
           .help = "full, causal, window[W], doc[L,...], docfull[L,...], prefix[N]; L:SLOTS has pads",
           .standard = "causal",
           .claims = [=](std::string_view text) {
             return names.contains(std::string(text.substr(0, text.find('['))));
           },
           .print = [](const Case& c) { return mask_text(c.mask); },
           .parse = [](Case& c, const std::string& text) { c.mask = parse_mask(text); },
           .values = [] {
             return std::vector<std::string>{"full",    "causal", "window",   "doc",
                                             "docfull", "prefix", "doc:pads", "docfull:pads"};
           },
           .simpler = simpler_mask,
           .draw = [](Case& c, const std::string& kind, const Ranges&, const Draw& draw) {
             c.mask = draw_mask(c, kind, draw);
           }}};
}

}  // namespace ringcheck::parity
