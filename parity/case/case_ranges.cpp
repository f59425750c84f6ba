// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "parity/case/case_space.h"

namespace ringcheck::parity {
namespace {

std::vector<int> up_to(int most) {
  std::vector<int> worlds(static_cast<size_t>(most));
  std::iota(worlds.begin(), worlds.end(), 1);
  return worlds;
}

}  // namespace

Ranges smoke_ranges() {
  Ranges ranges;
  ranges.heads = {"1/1", "4/4", "4/2", "4/1", "6/2", "3/3"};
  ranges.dims = {"8/8", "16/16", "32/32", "64/64", "16/24", "24/8"};
  ranges.worlds = {1, 2, 3, 4, 5, 7, 8};
  ranges.scales.push_back("-0.25");
  return ranges;
}

Ranges stress_ranges() {
  Ranges ranges;
  ranges.least_seq = 500, ranges.most_seq = 1500;
  ranges.heads = {"4/4", "8/2", "4/1"};
  ranges.dims = {"64/64", "128/128", "96/64"};
  ranges.worlds = {2, 3, 4, 6, 8, 13};
  return ranges;
}

Ranges clean_ranges() {
  Ranges ranges;
  ranges.least_seq = 1, ranges.most_seq = 96;
  ranges.heads = {"1/1", "2/2", "4/2", "4/1", "6/3"};
  ranges.dims = {"8/8", "16/16", "32/32", "16/24", "24/8", "2/2"};
  ranges.worlds = up_to(8);
  return ranges;
}

Ranges law_ranges(const std::string& device) {
  Ranges ranges;
  ranges.worlds = up_to(8);
  ranges.lengths = {"tail"};
  ranges.blocks = {1, 2, 3, 4};
  ranges.heads = {"1/1", "2/1", "3/1", "2/2", "4/2", "6/2"};
  for (const int64_t unit : {2, 8})
    if (unit == 2 || device != "cpu")
      for (int64_t dim = 2 * unit; dim <= 5 * unit; dim += unit)
        for (const int64_t dim_v : {dim, dim + 3, int64_t{1}})
          ranges.dims.push_back(std::to_string(dim) + "/" + std::to_string(dim_v));
  ranges.masks = {"full", "causal", "window:any", "prefix:any", "doc:any", "docfull:any"};
  ranges.ropes.assign(12, "none");  // as often as any RoPE
  for (const char* pairing : {"half", "interleaved"})
    for (const char* base : {"10000", "100", "500000"})
      for (const char* scaling : {"", ",llama3,8,1,4,64"})
        ranges.ropes.push_back(std::string(pairing) + "[" + base + scaling + "]");
  ranges.scales = {"default", "default", "default", "default", "0.5", "0.3", "0.25", "-0.5"};
  ranges.data = {"spread3"};
  return ranges;
}

Ranges search_ranges(int most_world) {
  Ranges ranges;
  ranges.least_seq = 1, ranges.most_seq = 72;
  ranges.worlds = up_to(most_world);
  ranges.lengths = {"granule", "granule+1", "granule-1", "tile", "tile+1", "tile-1", "any"};
  ranges.blocks = {1, 2, 3, 16};
  ranges.heads = {"1/1", "2/2", "2/1", "4/2", "4/1", "6/2", "6/3", "3/3"};
  ranges.dims = {"8/8", "16/16", "32/32", "16/24", "24/8", "2/2"};
  for (const char* edge : {"window:edge", "window:any", "prefix:any", "doc:any", "docfull:any"})
    ranges.masks.push_back(edge);
  return ranges;
}

}  // namespace ringcheck::parity
