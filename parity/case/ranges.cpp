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

// Every shape that some kernel may do wrong where others are right, small ones more often.
Ranges every_shape() {
  Ranges ranges;
  ranges.of = {
      {"heads", {"1/1", "2/2", "4/4", "4/2", "4/1", "6/2", "3/3", "8/1", "16/2", "9/9", "10/2",
                 "7/1", "18/9", "20/10", "64/8", "32/1"}},
      {"dim", {"8/8", "16/16", "32/32", "64/64", "16/24", "24/8", "2/2", "12/12", "15/15", "80/80",
               "128/128", "128/128", "112/112", "256/256", "192/128", "40/136", "64/256", "160/160",
               "200/72"}},
      {"batch", {"1", "1", "1", "2", "3", "4"}},
      {"scale", {"default", "default", "default", "default", "0.25", "0.0625", "-0.25", "1.5", "-2",
                 "8", "0.001"}},
      {"seq",
       {"divides", "odd", "any", "few", "tail", "granule", "granule+1", "granule-1", "long"}},
      {"balance", balancers({1, 3, 16})},
      {"mask", {"full", "causal", "window", "doc", "docfull", "prefix", "doc:pads", "docfull:pads",
                "window:any", "window:piece", "prefix:any", "prefix:piece", "doc:piece",
                "docfull:piece", "doc:empty", "docfull:empty", "doc:short", "docfull:short"}},
      {"rope", {"none", "none", "none", "half[10000]", "interleaved[10000]", "half[500000,llama3]",
                "interleaved[500000,llama3]", "half[10000,llama3,8,1,4,64]",
                "interleaved[100,llama3,4,1,4,32]"}}};
  return ranges;
}

}  // namespace

Draw drawn_from(uint64_t seed) {
  return [random = std::mt19937_64(seed)](int64_t least, int64_t most) mutable {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
}

Ranges smoke_ranges() {
  Ranges ranges = every_shape();
  ranges.least_seq = 16, ranges.most_seq = 160, ranges.longest_seq = 600;
  ranges.most_work = 100'000'000;
  ranges.padded_one_in = 2;
  ranges.of["world"] = {"1", "2", "3", "4", "5", "6", "7", "8", "8", "11", "16"};
  ranges.of["scale"].push_back("0");
  return ranges;
}

Ranges stress_ranges() {
  Ranges ranges;
  ranges.least_seq = 500, ranges.most_seq = 1500;
  ranges.of = {{"heads", {"4/4", "8/2", "4/1", "16/2", "9/3"}},
               {"dim", {"64/64", "128/128", "96/64", "256/256", "192/128"}},
               {"world", {"2", "3", "4", "6", "8", "13"}}};
  ranges.most_work = 8'000'000'000;
  return ranges;
}

Ranges clean_ranges(const std::string& device) {
  const bool on_gpus = device == "cuda";
  Ranges ranges = every_shape();
  ranges.least_seq = 1, ranges.most_seq = on_gpus ? 512 : 128;
  ranges.longest_seq = on_gpus ? 8192 : 1024;
  ranges.most_work = on_gpus ? 2'000'000'000'000 : 100'000'000;
  ranges.most_shapes = 64;  // some seconds
  ranges.padded_one_in = 2;
  ranges.of["world"] = up_to(8);
  for (const char* heads : {"64/64", "40/8", "24/3"}) ranges.of["heads"].push_back(heads);
  for (const char* dims : {"96/96", "144/8", "256/8", "8/256"}) ranges.of["dim"].push_back(dims);
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
