// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/case_space.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <tuple>

#include "parity/data_family.h"
#include "parity/text.h"

namespace ringcheck::cli {
namespace {

using parity::Case;
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

Words balancers() {
  Words names;
  for (const auto& [name, entry] : Balancers::all()) {
    if (!entry.takes_block)
      names.push_back(name);
    else
      for (const char* block : {"[1]", "[3]", "[16]"})
        names.push_back(name + block);
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
  const Words parts = parity::split(text, '/');
  return {parity::parse_size(parts.at(0)), parity::parse_size(parts.at(1))};
}

// Divides: a multiple of what every balancer but the widest stripes wants. Odd: of nothing.
int64_t draw_length(const Sizes& sizes, bool divides, int world, Random& random) {
  const int64_t length = draw(random, sizes.least_seq, sizes.most_seq);
  const int64_t granule = 2 * world;
  if (divides)
    return std::max(granule, length / granule * granule);
  return length % 2 == 0 ? length + 1 : length;
}

// Two to six documents that fill `slots`; with pads, some of them end in some.
Documents draw_documents(int64_t slots, bool pads, Random& random) {
  const int64_t count = std::min(draw(random, 2, 6), slots);
  std::vector<int64_t> cuts{0, slots};
  while (static_cast<int64_t>(cuts.size()) < count + 1) {
    const int64_t cut = draw(random, 1, slots - 1);
    if (std::find(cuts.begin(), cuts.end(), cut) == cuts.end())
      cuts.push_back(cut);
  }
  std::sort(cuts.begin(), cuts.end());
  Documents documents;
  for (size_t i = 1; i < cuts.size(); ++i) {
    const int64_t taken = cuts[i] - cuts[i - 1];
    const bool padded = pads && draw(random, 0, 2) > 0;
    documents.push_back({padded ? draw(random, (taken + 1) / 2, taken) : taken, taken});
  }
  return documents;
}

decltype(Mask::kind) draw_mask(const std::string& kind, int64_t length, Random& random) {
  if (kind == "full")
    return Full{};
  if (kind == "causal")
    return Causal{};
  if (kind == "window")
    return Window{draw(random, 1, length)};
  if (kind == "prefix")
    return Prefix{draw(random, 0, length)};
  if (kind == "doc")
    return DocumentCausal{draw_documents(length, false, random)};
  if (kind == "docfull")
    return DocumentFull{draw_documents(length, false, random)};
  if (kind == "doc:pads")
    return DocumentCausal{draw_documents(length, true, random)};
  if (kind == "docfull:pads")
    return DocumentFull{draw_documents(length, true, random)};
  throw std::logic_error("unknown kind of mask " + kind);
}

// Documents over 2^k slots that see 2^i keys each.
decltype(Mask::kind) powers_of_two(const std::string& kind, int64_t slots) {
  if (kind == "docfull")
    return DocumentFull{{{slots / 2, slots / 2}, {slots / 4, slots / 4}, {slots / 4, slots / 4}}};
  if (kind == "docfull:pads")
    return DocumentFull{{{slots / 4, slots / 2}, {slots / 2, slots / 2}}};
  return Full{};
}

// Makes the case simpler until its data family takes it.
void suit(Case& test, const std::string& mask) {
  const auto taken = [&] { return !parity::DataFamilies::at(test.data).refuses(test); };
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

}  // namespace

int64_t draw(Random& random, int64_t least, int64_t most) {
  return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
}

Sizes smoke_sizes() {
  return {24,
          200,
          {"1/1", "4/4", "4/2", "4/1", "6/2", "3/3"},
          {"8/8", "16/16", "32/32", "64/64", "16/24", "24/8"},
          {1, 2, 3, 4, 5, 7, 8}};
}
Sizes stress_sizes() {
  return {500, 1500, {"4/4", "8/2", "4/1"}, {"64/64", "128/128", "96/64"}, {2, 3, 4, 6, 8, 13}};
}
Sizes clean_sizes() {
  return {1,
          96,
          {"1/1", "2/2", "4/2", "4/1", "6/3"},
          {"8/8", "16/16", "32/32", "16/24", "24/8", "2/2"},
          {1, 2, 3, 4, 5, 6, 7, 8}};
}

CaseSpace::CaseSpace(Sizes sizes, const std::string& device)
    : sizes_(std::move(sizes)), device_(device) {
  Case probe;
  probe.device = device_;
  factors_ = {
      {"world", words_of(sizes_.worlds)},
      {"rotation", rotations()},
      {"balance", balancers()},
      {"kernel", kernels_on(parity::device_type_of(probe))},
      {"mask",
       {"full", "causal", "window", "doc", "docfull", "prefix", "doc:pads", "docfull:pads"}},
      {"dtype", {"float64", "float32", "bf16", "fp16"}},
      {"length", {"divides", "odd"}},
      {"heads", sizes_.heads},
      {"dims", sizes_.dims},
      {"rope", {"none", "half[10000]", "interleaved[10000]", "half[500000,llama3]"}},
      {"scale", {"default", "0.25", "0.0625"}},
      {"data", names_of(parity::DataFamilies::all())},
      {"batch", {"1", "2"}}};
}

CaseSpace::Choice CaseSpace::choose(Random& random) const {
  Choice choice;
  for (const Factor& factor : factors_)
    choice.push_back(
        static_cast<int>(draw(random, 0, static_cast<int64_t>(factor.values.size()) - 1)));
  return choice;
}

const std::string& CaseSpace::value(const Choice& choice, const std::string& factor) const {
  for (size_t i = 0; i < factors_.size(); ++i)
    if (factors_[i].name == factor)
      return factors_[i].values.at(static_cast<size_t>(choice.at(i)));
  throw std::logic_error("no factor " + factor);
}

Case CaseSpace::build(const Choice& choice, Random& random) const {
  const auto is = [&](const char* factor) -> const std::string& { return value(choice, factor); };
  Case test;
  test.device = device_;
  test.world = static_cast<int>(parity::parse_size(is("world")));
  parity::parse_rotation(is("rotation"), test);
  parity::parse_balance(is("balance"), test);
  test.kernel = is("kernel");
  test.dtype = parity::parse_dtype(is("dtype"));
  test.seq = draw_length(sizes_, is("length") == "divides", test.world, random);
  std::tie(test.q_heads, test.kv_heads) = pair_of(is("heads"));
  std::tie(test.dim, test.dim_v) = pair_of(is("dims"));
  test.mask = draw_mask(is("mask"), test.seq, random);
  test.rope = parity::parse_rope(is("rope"));
  if (is("scale") != "default")
    test.scale = parity::parse_number(is("scale"));
  test.data = is("data");
  test.batch = parity::parse_size(is("batch"));
  test.seed = random() % 1000000;
  // Flat and all positive: in 16 bits dQ and dK vanish in the noise and show nothing.
  if (test.data == "uniform" && c10::elementSize(test.dtype) == 2)
    test.dtype = at::kFloat;
  // Only rounding to 16 bits leaves exact numbers.
  if (test.data == "snap" && c10::elementSize(test.dtype) > 2)
    test.dtype = c10::elementSize(test.dtype) == 4 ? at::kBFloat16 : at::kHalf;
  // Peaked scores sharpened once more leave dQ and dK in the noise.
  const double usual = 1 / std::sqrt(static_cast<double>(test.dim));
  if (test.data == "peaked" && test.scale.value_or(usual) > usual)
    test.scale.reset();
  suit(test, is("mask"));
  parity::validate(test);
  if (parity::not_supported(test))
    test.kernel = plainest_kernel(parity::device_type_of(test));
  return test;
}

}  // namespace ringcheck::cli
