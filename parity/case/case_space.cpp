// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/case_space.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <stdexcept>
#include <tuple>

#include "parity/case/data_family.h"
#include "parity/case/text.h"

namespace ringcheck::parity {
namespace {

using Words = std::vector<std::string>;

Words rotations() {
  Words names;
  for (const auto& [name, entry] : Rotations::all()) {
    names.push_back(name);
    if (entry.can_keep)
      names.push_back(name + "[keep]");
  }
  return names;
}

Words balancers(const std::vector<int>& blocks) {
  Words names;
  for (const auto& [name, entry] : Balancers::all()) {
    if (!entry.takes_block)
      names.push_back(name);
    else
      for (const int block : blocks)
        names.push_back(name + "[" + std::to_string(block) + "]");
  }
  return names;
}

template <class Table>
Words names_of(const Table& table) {
  Words names;
  for (const auto& [name, entry] : table)
    names.push_back(name);
  return names;
}

Words words_of(const std::vector<int>& numbers) {
  Words words;
  for (const int number : numbers)
    words.push_back(std::to_string(number));
  return words;
}

// "a/b"
std::pair<int64_t, int64_t> pair_of(const std::string& text) {
  const Words parts = split(text, '/');
  return {parse_size(parts.at(0)), parse_size(parts.at(1))};
}

// About `most`, a multiple of `unit` or beside one.
int64_t beside(int64_t unit, const std::string& how, int64_t most, const Draw& draw) {
  const int64_t whole = unit * draw(1, std::max<int64_t>(1, most / unit));
  if (how.ends_with("+1"))
    return whole + 1;
  return how.ends_with("-1") ? std::max<int64_t>(1, whole - 1) : whole;
}

int64_t draw_length(const Ranges& ranges, const std::string& how, const Case& test,
                    const Draw& draw) {
  constexpr int64_t kTile = 16;  // of rows and columns, in vector and matrix instructions
  const int64_t granule = Balancers::at(test.balance).granule(test.block, test.world);
  if (how == "any")
    return draw(ranges.least_seq, ranges.most_seq);
  if (how == "tail") {
    const int64_t whole = granule * draw(0, 3);
    return std::max<int64_t>(1, whole + draw(0, granule - 1));
  }
  if (how.starts_with("granule"))
    return beside(granule, how, ranges.most_seq, draw);
  if (how.starts_with("tile"))
    return beside(kTile, how, ranges.most_seq, draw);
  const int64_t length = draw(ranges.least_seq, ranges.most_seq);
  const int64_t even = 2 * test.world;  // what every balancer but the widest stripes wants
  if (how == "divides")
    return std::max(even, length / even * even);
  return length % 2 == 0 ? length + 1 : length;
}

// Two to six documents that fill `slots`; with pads, some of them end in some.
Documents draw_documents(int64_t slots, bool pads, const Draw& draw) {
  const int64_t count = std::min(draw(2, 6), slots);
  std::vector<int64_t> cuts{0, slots};
  while (static_cast<int64_t>(cuts.size()) < count + 1) {
    const int64_t cut = draw(1, slots - 1);
    if (std::find(cuts.begin(), cuts.end(), cut) == cuts.end())
      cuts.push_back(cut);
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

decltype(Mask::kind) draw_mask(const std::string& kind, const Case& test, const Draw& draw) {
  const int64_t length = test.seq;
  if (kind == "full")
    return Full{};
  if (kind == "causal")
    return Causal{};
  if (kind == "window")
    return Window{draw(1, length)};
  if (kind == "window:any")
    return Window{draw(1, length + 1)};
  if (kind == "window:edge")
    return draw_edge_window(test, draw);
  if (kind == "prefix")
    return Prefix{draw(0, length)};
  if (kind == "prefix:any")
    return Prefix{draw(0, length + 3)};
  const bool any = kind.ends_with(":any");
  const Documents documents = any ? draw_any_documents(length, draw)
                                  : draw_documents(length, kind.ends_with(":pads"), draw);
  if (kind.starts_with("docfull"))
    return DocumentFull{documents};
  if (kind.starts_with("doc"))
    return DocumentCausal{documents};
  throw std::logic_error("unknown kind of mask " + kind);
}

// Documents over 2^k slots that see 2^i keys each.
decltype(Mask::kind) powers_of_two(const std::string& kind, int64_t slots) {
  if (slots >= 4 && kind == "docfull")
    return DocumentFull{{{slots / 2, slots / 2}, {slots / 4, slots / 4}, {slots / 4, slots / 4}}};
  if (slots >= 4 && kind == "docfull:pads")
    return DocumentFull{{{slots / 4, slots / 2}, {slots / 2, slots / 2}}};
  return Full{};
}

// Makes the case simpler until its data family takes it.
void suit(Case& test, const std::string& mask) {
  const auto taken = [&] { return !DataFamilies::at(test.data).refuses(test); };
  if (taken())
    return;
  test.rope = {};
  if (taken())
    return;
  test.scale = 0.25;
  if (taken())
    return;
  test.seq = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(test.seq)));
  test.mask = powers_of_two(mask, test.seq);
  if (taken())
    return;
  test.dim = test.dim_v = 16;
}

// Cases that show nothing: flat and all positive data in 16 bits, where dQ and dK vanish in the
// noise, and peaked scores sharpened once more.
void avoid_vacuity(Case& test) {
  if (test.data == "uniform" && c10::elementSize(test.dtype) == 2)
    test.dtype = at::kFloat;
  // Only rounding to 16 bits leaves exact numbers.
  if (test.data == "snap" && c10::elementSize(test.dtype) > 2)
    test.dtype = c10::elementSize(test.dtype) == 4 ? at::kBFloat16 : at::kHalf;
  const double usual = 1 / std::sqrt(static_cast<double>(test.dim));
  if (test.data == "peaked" && test.scale.value_or(usual) > usual)
    test.scale.reset();
}

}  // namespace

Draw drawn_from(uint64_t seed) {
  return [random = std::mt19937_64(seed)](int64_t least, int64_t most) mutable {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
}

CaseSpace::CaseSpace(Ranges ranges, const std::string& device)
    : ranges_(std::move(ranges)), device_(device) {
  Case probe;
  probe.device = device_;
  factors_ = {{"strategy", names_of(Strategies::all())},
              {"world", words_of(ranges_.worlds)},
              {"rotation", rotations()},
              {"balance", balancers(ranges_.blocks)},
              {"kernel", kernels_on(device_type_of(probe))},
              {"mask", ranges_.masks},
              {"dtype", {"float64", "float32", "bf16", "fp16"}},
              {"length", ranges_.lengths},
              {"heads", ranges_.heads},
              {"dims", ranges_.dims},
              {"rope", ranges_.ropes},
              {"scale", ranges_.scales},
              {"data", ranges_.data.empty() ? names_of(DataFamilies::all()) : ranges_.data},
              {"batch", words_of(ranges_.batches)}};
}

// Where there is no choice nothing is drawn.
CaseSpace::Choice CaseSpace::choose(const Draw& draw) const {
  Choice choice;
  for (const Factor& factor : factors_) {
    const auto last = static_cast<int64_t>(factor.values.size()) - 1;
    choice.push_back(last == 0 ? 0 : static_cast<int>(draw(0, last)));
  }
  return choice;
}

const std::string& CaseSpace::value(const Choice& choice, const std::string& factor) const {
  for (size_t i = 0; i < factors_.size(); ++i)
    if (factors_[i].name == factor)
      return factors_[i].values.at(static_cast<size_t>(choice.at(i)));
  throw std::logic_error("no factor " + factor);
}

Case CaseSpace::build(const Choice& choice, const Draw& draw) const {
  const auto is = [&](const char* factor) -> const std::string& { return value(choice, factor); };
  Case test;
  test.device = device_;
  test.strategy = is("strategy");
  test.world = static_cast<int>(parse_size(is("world")));
  parse_rotation(is("rotation"), test);
  parse_balance(is("balance"), test);
  test.kernel = is("kernel");
  test.dtype = parse_dtype(is("dtype"));
  test.seq = draw_length(ranges_, is("length"), test, draw);
  std::tie(test.q_heads, test.kv_heads) = pair_of(is("heads"));
  std::tie(test.dim, test.dim_v) = pair_of(is("dims"));
  test.mask = draw_mask(is("mask"), test, draw);
  test.rope = parse_rope(is("rope"));
  if (is("scale") != "default")
    test.scale = parse_number(is("scale"));
  test.data = is("data");
  test.batch = parse_size(is("batch"));
  test.seed = static_cast<uint64_t>(draw(0, 999999));
  avoid_vacuity(test);
  suit(test, is("mask"));
  validate(test);
  if (not_supported(test))
    test.kernel = plainest_kernel(device_type_of(test));
  if (not_supported(test))
    test.strategy = Case{}.strategy;
  return test;
}

}  // namespace ringcheck::parity
