// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/ranges.h"

#include <random>

#include "parity/case/part.h"

namespace ringcheck::parity {
namespace {

using Words = std::vector<std::string>;

Words up_to(int most) {
  Words worlds;
  for (int world = 1; world <= most; ++world) worlds.push_back(std::to_string(world));
  return worlds;
}

// Every balancer; one that takes a block with each of these.
Words balancers(std::initializer_list<int> blocks) {
  Words names;
  for (const auto& [name, entry] : Balancers::all()) {
    if (!entry.takes_block) names.push_back(name);
    else
      for (const int block : blocks) names.push_back(name + "[" + std::to_string(block) + "]");
  }
  return names;
}

}  // namespace

Draw drawn_from(uint64_t seed) {
  return [random = std::mt19937_64(seed)](int64_t least, int64_t most) mutable {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
}

Ranges smoke_ranges() {
  Ranges ranges;
  ranges.of = {{"heads", {"1/1", "4/4", "4/2", "4/1", "6/2", "3/3"}},
               {"dim", {"8/8", "16/16", "32/32", "64/64", "16/24", "24/8"}},
               {"world", {"1", "2", "3", "4", "5", "7", "8"}},
               {"scale", {"default", "0.25", "0.0625", "-0.25"}}};
  return ranges;
}

Ranges stress_ranges() {
  Ranges ranges;
  ranges.least_seq = 500, ranges.most_seq = 1500;
  ranges.of = {{"heads", {"4/4", "8/2", "4/1"}},
               {"dim", {"64/64", "128/128", "96/64"}},
               {"world", {"2", "3", "4", "6", "8", "13"}}};
  return ranges;
}

Ranges clean_ranges() {
  Ranges ranges;
  ranges.least_seq = 1, ranges.most_seq = 96;
  ranges.of = {{"heads", {"1/1", "2/2", "4/2", "4/1", "6/3"}},
               {"dim", {"8/8", "16/16", "32/32", "16/24", "24/8", "2/2"}},
               {"world", up_to(8)}};
  return ranges;
}

Ranges law_ranges(const std::string& device) {
  Ranges ranges;
  ranges.of = {
      {"world", up_to(8)},
      {"seq", {"tail"}},
      {"balance", balancers({1, 2, 3, 4})},
      {"heads", {"1/1", "2/1", "3/1", "2/2", "4/2", "6/2"}},
      {"mask", {"full", "causal", "window:any", "prefix:any", "doc:any", "docfull:any"}},
      {"scale", {"default", "default", "default", "default", "0.5", "0.3", "0.25", "-0.5"}},
      {"data", {"spread3"}}};
  Words& dims = ranges.of["dim"];
  for (const int64_t unit : {2, 8})
    if (unit == 2 || device != "cpu")
      for (int64_t dim = 2 * unit; dim <= 5 * unit; dim += unit)
        for (const int64_t dim_v : {dim, dim + 3, int64_t{1}})
          dims.push_back(std::to_string(dim) + "/" + std::to_string(dim_v));
  Words& ropes = ranges.of["rope"];
  ropes.assign(12, "none");  // as often as any RoPE
  for (const char* pairing : {"half", "interleaved"})
    for (const char* base : {"10000", "100", "500000"})
      for (const char* scaling : {"", ",llama3,8,1,4,64"})
        ropes.push_back(std::string(pairing) + "[" + base + scaling + "]");
  return ranges;
}

Ranges search_ranges(int most_world) {
  Ranges ranges;
  ranges.least_seq = 1, ranges.most_seq = 72;
  ranges.of = {{"world", up_to(most_world)},
               {"seq", {"granule", "granule+1", "granule-1", "tile", "tile+1", "tile-1", "any"}},
               {"balance", balancers({1, 2, 3, 16})},
               {"heads", {"1/1", "2/2", "2/1", "4/2", "4/1", "6/2", "6/3", "3/3"}},
               {"dim", {"8/8", "16/16", "32/32", "16/24", "24/8", "2/2"}}};
  Words& masks = ranges.of["mask"] = part("mask").values();
  for (const char* edge : {"window:edge", "window:any", "prefix:any", "doc:any", "docfull:any"})
    masks.push_back(edge);
  return ranges;
}

}  // namespace ringcheck::parity
