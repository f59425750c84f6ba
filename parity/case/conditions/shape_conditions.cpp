// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Heads, channels, scales: what a kernel or a packing indexes with.
#include <algorithm>
#include <cmath>

#include "parity/case/conditions/condition.h"
#include "parity/case/part.h"

namespace ringcheck::parity {
namespace {

constexpr auto kUsual = Condition::Rank::kUsual;
constexpr auto kDangerous = Condition::Rank::kDangerous;
constexpr auto kWorst = Condition::Rank::kWorst;

bool is_power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

const Conditions kHeads{
    {"batch 2", kUsual, [](const Facts& f) { return f.test.batch == 2; }},
    {"batch 3", kDangerous, [](const Facts& f) { return f.test.batch == 3; }},
    {"batch 4 and more", kDangerous, [](const Facts& f) { return f.test.batch >= 4; }},
    {"batch 3 and more", kWorst, [](const Facts& f) { return f.test.batch >= 3; }},
    {"one query head", kUsual, [](const Facts& f) { return f.test.q_heads == 1; }},
    {"heads no power of two", kDangerous,
     [](const Facts& f) { return !is_power_of_two(f.test.q_heads); }},
    {"9 query heads and more", kWorst, [](const Facts& f) { return f.test.q_heads >= 9; }},
    {"17 query heads and more", kDangerous, [](const Facts& f) { return f.test.q_heads >= 17; }},
    {"64 query heads", kDangerous, [](const Facts& f) { return f.test.q_heads >= 64; }},
    {"9 key-value heads and more", kDangerous, [](const Facts& f) { return f.test.kv_heads >= 9; }},
    {"each query head its own keys", kUsual,
     [](const Facts& f) { return f.group == 1 && f.test.q_heads > 1; }},
    {"all query heads one key head", kUsual,
     [](const Facts& f) { return f.group > 1 && f.test.kv_heads == 1; }},
    {"query group no power of two", kDangerous,
     [](const Facts& f) { return !is_power_of_two(f.group); }},
    {"query group of 5 to 7", kUsual, [](const Facts& f) { return f.group >= 5 && f.group < 8; }},
    {"query group of 8 and more", kWorst, [](const Facts& f) { return f.group >= 8; }},
    {"query groups of 5 and more, several", kDangerous,
     [](const Facts& f) { return f.group >= 5 && f.test.kv_heads > 1; }},
};

// Any batch entry has this length.
bool any_length(const Facts& f, const std::function<bool(int64_t)>& holds) {
  return std::ranges::any_of(f.test.lengths, holds);
}

const Conditions kEntries{
    {"batch entries of different lengths", kDangerous,
     [](const Facts& f) { return !f.test.lengths.empty(); }},
    {"an empty batch entry", kUsual,
     [](const Facts& f) { return any_length(f, [](int64_t n) { return n == 0; }); }},
    {"a batch entry of one token", kUsual,
     [](const Facts& f) { return any_length(f, [](int64_t n) { return n == 1; }); }},
    {"the first batch entry shorter than others", kUsual,
     [](const Facts& f) { return !f.test.lengths.empty() && f.test.lengths[0] < f.test.seq; }},
    {"a batch entry of which a rank holds no token", kUsual,
     [](const Facts& f) {
       return f.test.world > 1 &&
              any_length(f, [&](int64_t n) { return n > 0 && n <= f.piece && n < f.test.seq; });
     }},
    {"RoPE of batch entries of different lengths", kUsual,
     [](const Facts& f) {
       return !f.test.lengths.empty() && f.test.rope.pairing != Rope::Pairing::kNone;
     }},
};

const Conditions kChannels{
    {"dim below 8", kUsual, [](const Facts& f) { return f.test.dim < 8; }},
    {"dim odd", kUsual, [](const Facts& f) { return f.test.dim % 2 != 0; }},
    {"dim no multiple of 8", kDangerous, [](const Facts& f) { return f.test.dim % 8 != 0; }},
    {"dim above 64", kUsual, [](const Facts& f) { return f.test.dim > 64; }},
    {"dim above 96", kWorst, [](const Facts& f) { return f.test.dim > 96; }},
    {"dim above 128", kWorst, [](const Facts& f) { return f.test.dim > 128; }},
    {"dim above 192", kDangerous, [](const Facts& f) { return f.test.dim > 192; }},
    {"dim-v above dim", kDangerous, [](const Facts& f) { return f.test.dim_v > f.test.dim; }},
    {"dim-v below dim", kDangerous, [](const Facts& f) { return f.test.dim_v < f.test.dim; }},
    {"dim-v above 128", kDangerous, [](const Facts& f) { return f.test.dim_v > 128; }},
    {"dim-v above 128, not dim", kUsual,
     [](const Facts& f) { return f.test.dim_v > 128 && f.test.dim_v != f.test.dim; }},
    {"RoPE over 96 channels and more", kDangerous,
     [](const Facts& f) {
       return f.test.dim >= 96 && f.test.rope.pairing != Rope::Pairing::kNone;
     }},
};

const Conditions kScales{
    {"scale above 1", kWorst, [](const Facts& f) { return scale_of(f.test) > 1; }},
    {"scale below -1", kDangerous, [](const Facts& f) { return scale_of(f.test) < -1; }},
    {"scale negative", kDangerous, [](const Facts& f) { return scale_of(f.test) < 0; }},
    {"scale 0", kUsual, [](const Facts& f) { return scale_of(f.test) == 0; }},
    {"scale nearly 0", kUsual,
     [](const Facts& f) { return scale_of(f.test) != 0 && std::abs(scale_of(f.test)) <= 0.001; }},
    {"dO over thirteen binades in fp16", kUsual,
     [](const Facts& f) { return f.test.data == "wide" && f.test.dtype == at::kHalf; }},
};

// A kernel at the size of most models, in each dtype that it computes.
Conditions kernels_at_128(const std::string& device) {
  Conditions rows;
  Case probe;
  probe.device = device;
  probe.dim = probe.dim_v = 128;
  for (const std::string& kernel : kernels_on(device_type_of(probe)))
    for (const std::string& dtype : part("dtype").values()) {
      probe.kernel = kernel;
      probe.dtype = parse_dtype(dtype);
      if (not_supported(probe))
        continue;
      rows.push_back({"dim 128, " + kernel + ", " + dtype, kDangerous, [=](const Facts& f) {
                        return f.test.dim == 128 && f.test.dim_v == 128 &&
                               f.test.kernel == kernel && f.traits.at("dtype") == dtype;
                      }});
    }
  return rows;
}

}  // namespace

Conditions shape_conditions(const std::string& device) {
  Conditions all;
  for (const Conditions& rows : {kHeads, kEntries, kChannels, kScales, kernels_at_128(device)})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

}  // namespace ringcheck::parity
