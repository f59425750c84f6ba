// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

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

// Where something changes: at the width of a shard and of the sequence.
Window draw_edge_window(const Case& test, const Draw& draw) {
  const int64_t granule = Balancers::at(test.balance).granule(test.block, test.world);
  const int64_t shard = padded_length(test.seq, granule) / test.world;
  const int64_t edges[] = {1, shard - 1, shard, shard + 1, test.seq, test.seq + 1};
  return Window{std::max<int64_t>(1, edges[draw(0, 5)])};
}

MaskKind draw_mask(const Case& test, const std::string& kind, const Draw& draw) {
  const int64_t length = test.seq;
  if (kind == "full") return Full{};
  if (kind == "causal") return Causal{};
  if (kind == "window") return Window{draw(1, length)};
  if (kind == "window:any") return Window{draw(1, length + 1)};
  if (kind == "window:edge") return draw_edge_window(test, draw);
  if (kind == "prefix") return Prefix{draw(0, length)};
  if (kind == "prefix:any") return Prefix{draw(0, length + 3)};
  const bool any = kind.ends_with(":any");
  const Documents documents = any ? draw_any_documents(length, draw)
                                  : draw_documents(length, kind.ends_with(":pads"), draw);
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
