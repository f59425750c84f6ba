// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "parity/case/balance/own_balance.h"
#include "parity/case/data_family.h"
#include "parity/case/part.h"
#include "parity/case/text.h"

namespace ringcheck::parity {
namespace {

// What the generator of the data counts in 16 bits (parity/case/data_family.cpp), and channels. Tokens are those of one head,
// whose pairs are counted in 64 bits.
constexpr int64_t kMost = 1 << 16, kMostTokens = int64_t{1} << 31;

using Words = std::vector<std::string>;
using Cases = std::vector<Case>;

// "a/b"
std::pair<int64_t, int64_t> pair_of(const std::string& text) {
  const Words parts = split(text, '/');
  return {parse_size(parts.at(0)), parse_size(parts.at(1))};
}

// About `most`, a multiple of `unit` or beside one.
int64_t beside(int64_t unit, const std::string& how, int64_t most, const Draw& draw) {
  const int64_t whole = unit * draw(1, std::max<int64_t>(1, most / unit));
  if (how.ends_with("+1")) return whole + 1;
  return how.ends_with("-1") ? std::max<int64_t>(1, whole - 1) : whole;
}

int64_t draw_length(const Case& test, const std::string& how, const Ranges& ranges,
                    const Draw& draw) {
  constexpr int64_t kTile = 16;  // of rows and columns, in vector and matrix instructions
  const int64_t granule = granule_of(test);
  if (how == "any") return draw(ranges.least_seq, ranges.most_seq);
  if (how == "few") return draw(1, 2 * test.world);
  if (how == "long") return draw(ranges.most_seq, std::max(ranges.most_seq, ranges.longest_seq));
  if (how == "tail") {
    const int64_t whole = granule * draw(0, 3);
    return std::max<int64_t>(1, whole + draw(0, granule - 1));
  }
  if (how.starts_with("granule")) return beside(granule, how, ranges.most_seq, draw);
  if (how.starts_with("tile")) return beside(kTile, how, ranges.most_seq, draw);
  const int64_t length = draw(ranges.least_seq, ranges.most_seq);
  const int64_t even = 2 * test.world;  // what every balancer but the widest stripes wants
  if (how == "divides") return std::max(even, length / even * even);
  return length % 2 == 0 ? length + 1 : length;
}

// The first `slots` of them.
Documents cut(const Documents& packed, int64_t slots) {
  Documents left;
  for (Document document : packed) {
    if (slots == 0) break;
    document.slots = std::min(document.slots, slots);
    document.length = std::min(document.length, document.slots);
    slots -= document.slots;
    left.push_back(document);
  }
  return left;
}

Cases shorter(const Case& test) {
  Cases list;
  const Mask mask = mask_of(test);
  const Documents* packed = documents(mask);
  for (const int64_t seq : below(test.seq, 1))
    list.push_back(with(test, [&](Case& c) {
      c.seq = seq;
      c.lengths = lengths_within(c.lengths, seq);
      if (packed == nullptr) return;
      if (std::holds_alternative<DocumentFull>(c.mask)) c.mask = DocumentFull{cut(*packed, seq)};
      else c.mask = DocumentCausal{cut(*packed, seq)};
    }));
  return list;
}

Part seq_part() {
  Part row = size_part("seq", "seq", "s", "length of the sequence: 4096, 4K, 1M", &Case::seq, kMostTokens);
  row.values = [] { return Words{"divides", "odd"}; };
  row.follow = [](Case& c, const std::set<std::string>& said) {
    const Mask mask = mask_of(c);
    if (const Documents* packed = documents(mask); packed != nullptr && !said.contains("seq"))
      c.seq = slots_of(*packed);
  };
  row.simpler = shorter;
  row.draw = [](Case& c, const std::string& how, const Ranges& ranges, const Draw& draw) {
    c.seq = draw_length(c, how, ranges, draw);
  };
  return row;
}

Part batch_part() {
  Part row = size_part("batch", "batch", "b", "sequences", &Case::batch, kMost);
  row.values = [] { return Words{"1", "2"}; };
  row.simpler = [](const Case& test) {
    Cases list;
    for (const int64_t less : below(test.batch, 1))
      list.push_back(with(test, [&](Case& c) {
        c.batch = less;
        if (c.lengths.empty()) return;
        c.lengths.resize(static_cast<size_t>(less));
        c.seq = std::max<int64_t>(1, *std::ranges::max_element(c.lengths));
        c.lengths = lengths_within(c.lengths, c.seq);
      }));
    return list;
  };
  return row;
}

// Fewer groups of heads, and fewer heads in each.
Cases fewer_heads(const Case& test) {
  Cases list;
  const int64_t group = test.q_heads / test.kv_heads;
  for (const int64_t heads : below(test.kv_heads, 1))
    list.push_back(with(test, [&](Case& c) { c.kv_heads = heads, c.q_heads = heads * group; }));
  for (const int64_t members : below(group, 1))
    list.push_back(with(test, [&](Case& c) { c.q_heads = c.kv_heads * members; }));
  return list;
}

Part heads_part() {
  Part row = size_part("heads", "heads", "hq", "query heads", &Case::q_heads, kMost);
  row.values = [] { return Words{"1/1", "4/2"}; };
  row.simpler = fewer_heads;
  row.draw = [](Case& c, const std::string& value, const Ranges&, const Draw&) {
    std::tie(c.q_heads, c.kv_heads) = pair_of(value);
  };
  return row;
}

Part kv_heads_part() {
  Part row = size_part("kv_heads", "kv-heads", "hkv", "key-value heads; as many as query heads",
                       &Case::kv_heads, kMost);
  row.follow = [](Case& c, const std::set<std::string>& said) {
    if (said.contains("heads") && !said.contains("kv_heads")) c.kv_heads = c.q_heads;
  };
  row.simpler = {};  // with the heads
  return row;
}

Part dim_part() {
  Part row = size_part("dim", "dim", "d", "channels of a query or key head", &Case::dim, kMost);
  row.values = [] { return Words{"8/8", "32/32"}; };
  row.simpler = [](const Case& test) {
    Cases list;
    const int64_t pair = test.rope.pairing == Rope::Pairing::kNone ? 1 : 2;
    for (const int64_t half : below(test.dim / pair, 1))
      list.push_back(with(test, [&](Case& c) {
        c.dim = half * pair;
        if (test.dim_v == test.dim) c.dim_v = c.dim;
      }));
    return list;
  };
  row.draw = [](Case& c, const std::string& value, const Ranges&, const Draw&) {
    std::tie(c.dim, c.dim_v) = pair_of(value);
  };
  return row;
}

Part dim_v_part() {
  Part row = size_part("dim_v", "dim-v", "dv", "channels of a value head; as --dim", &Case::dim_v, kMost);
  row.follow = [](Case& c, const std::set<std::string>& said) {
    if (said.contains("dim") && !said.contains("dim_v")) c.dim_v = c.dim;
  };
  return row;
}

Part dtype_part() {
  const Words names{"float64", "float32", "bf16", "fp16"};
  Part row{.name = "dtype", .option = "dtype", .help = "float64, float32, bf16, fp16",
           .standard = dtype_text(Case{}.dtype)};
  row.claims = [=](std::string_view text) { return std::ranges::find(names, text) != names.end(); };
  row.print = [](const Case& c) { return dtype_text(c.dtype); };
  row.parse = [](Case& c, const std::string& text) { c.dtype = parse_dtype(text); };
  row.values = [=] { return names; };
  row.simpler = [](const Case& test) {
    Cases list;
    for (const at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16}) {
      if (dtype == test.dtype) break;
      list.push_back(with(test, [&](Case& c) { c.dtype = dtype; }));
    }
    return list;
  };
  return row;
}

Part rope_part() {
  Part row{.name = "rope", .option = "rope", .prefix = "rope:",
           .help = "none, half[BASE], interleaved[BASE], half[BASE,llama3]", .standard = "none"};
  row.claims = [](std::string_view) { return true; };
  row.print = [](const Case& c) { return rope_text(c.rope); };
  row.parse = [](Case& c, const std::string& text) { c.rope = parse_rope(text); };
  row.values = [] {
    return Words{"none", "half[10000]", "interleaved[10000]", "half[500000,llama3]"};
  };
  row.simpler = [](const Case& test) {
    return Cases{with(test, [](Case& c) { c.rope = {}; }),
                 with(test, [](Case& c) { c.rope.llama3.reset(); })};
  };
  return row;
}

Part scale_part() {
  Part row{.name = "scale", .option = "scale", .prefix = "scale:",
           .help = "of the logits; default: 1 / sqrt(dim)", .standard = "default"};
  row.claims = [](std::string_view) { return true; };
  row.print = [](const Case& c) { return c.scale ? number_text(*c.scale) : "default"; };
  row.parse = [](Case& c, const std::string& text) {
    if (text == "default") c.scale.reset();
    else c.scale = parse_number(text);
  };
  row.values = [] { return Words{"default", "0.25", "0.0625"}; };
  row.simpler = [](const Case& test) { return Cases{with(test, [](Case& c) { c.scale.reset(); })}; };
  return row;
}

Part data_part() {
  Part row = name_part("data", "data", "", &Case::data, [] {
    Words names;
    for (const auto& [name, family] : DataFamilies::all()) names.push_back(name);
    return names;
  });
  for (const auto& [name, family] : DataFamilies::all())
    row.help += (row.help.empty() ? "" : ", ") + name;
  row.claims = [](std::string_view text) {
    const std::string name(text.substr(0, text.find('[')));
    return DataFamilies::all().contains(name) || name == "tensors";
  };
  row.simpler = [](const Case& test) {
    return Cases{with(test, [](Case& c) { c.data = "normal"; }),
                 with(test, [](Case& c) { c.data = "normal", c.seed = 1; })};
  };
  return row;
}

Part seed_part() {
  Part row{.name = "seed", .option = "seed", .prefix = "seed", .help = "of the data", .standard = "1"};
  row.replaces = true;
  row.claims = [](std::string_view) { return true; };
  row.print = [](const Case& c) { return std::to_string(c.seed); };
  row.parse = [](Case& c, const std::string& text) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), c.seed);
    if (error != std::errc() || end != text.data() + text.size())
      throw BadCase("seed '" + text + "' is not one; want a whole number from 0 to "
                    "18446744073709551615 (2^64 - 1)");
  };
  row.simpler = [](const Case& test) { return Cases{with(test, [](Case& c) { c.seed = 1; })}; };
  row.draw = [](Case& c, const std::string&, const Ranges&, const Draw& draw) {
    c.seed = static_cast<uint64_t>(draw(0, 999999));
  };
  return row;
}

}  // namespace

std::vector<Part> task_parts() {
  return {batch_part(), lengths_part(), heads_part(), kv_heads_part(), seq_part(),  dim_part(),
          dim_v_part(), dtype_part(),   rope_part(),  scale_part(),    data_part(), seed_part()};
}

}  // namespace ringcheck::parity
