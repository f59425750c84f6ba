// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Lengths, how they are cut, and how far RoPE reaches.
#include <algorithm>

#include "parity/case/conditions/condition.h"

namespace ringcheck::parity {
namespace {

constexpr auto kUsual = Condition::Rank::kUsual;
constexpr auto kDangerous = Condition::Rank::kDangerous;
constexpr auto kWorst = Condition::Rank::kWorst;
constexpr auto kCostly = Condition::Rank::kCostly;

bool is_prime(int world) { return world == 3 || world == 5 || world == 7 || world == 11; }

// The fewest tokens that any rank holds.
int64_t fewest(const Facts& f) { return *std::ranges::min_element(f.tokens); }

// Positions at which a type of fewer bits than they need begins to show.
bool reaches(const Facts& f, Rope::Pairing pairing, int64_t position) {
  return f.test.rope.pairing == pairing && f.farthest > position;
}

const Conditions kLengths{
    {"length that the balancer divides", kUsual,
     [](const Facts& f) { return f.test.seq % f.granule == 0; }},
    {"length that it does not divide", kUsual,
     [](const Facts& f) { return f.test.seq % f.granule != 0; }},
    {"one token", kUsual, [](const Facts& f) { return f.test.seq == 1; }},
    {"fewer tokens than ranks", kWorst, [](const Facts& f) { return f.test.seq < f.test.world; }},
    {"a shard of one slot", kDangerous,
     [](const Facts& f) { return f.shard == 1 && f.test.world > 1; }},
    {"a shard of odd length", kDangerous,
     [](const Facts& f) { return f.shard > 1 && f.shard % 2 != 0 && f.test.world > 1; }},
    {"a rank without a token", kDangerous, [](const Facts& f) { return fewest(f) == 0; }},
    {"a rank with one token", kUsual,
     [](const Facts& f) { return f.shard > 1 && std::ranges::count(f.tokens, 1) > 0; }},
    {"a piece of pads beside one of tokens", kDangerous,
     [](const Facts& f) { return f.piece_of_pads; }},
    {"a shard above 64 slots", kUsual, [](const Facts& f) { return f.shard > 64; }},
    {"a shard of a slot more than a tile", kUsual,
     [](const Facts& f) { return f.shard > 1 && f.shard % 16 == 1; }},
    {"above 256 tokens", kUsual, [](const Facts& f) { return f.test.seq > 256; }},
};

const Conditions kWorlds{
    {"a prime world above 2", kUsual, [](const Facts& f) { return is_prime(f.test.world); }},
    {"7 ranks and more", kWorst, [](const Facts& f) { return f.test.world >= 7; }},
    {"9 ranks and more", kDangerous, [](const Facts& f) { return f.test.world >= 9; }},
    {"a round of stripes that is not full", kDangerous,
     [](const Facts& f) {
       return f.test.block > 1 && f.test.seq > f.granule && f.test.seq % f.granule != 0;
     }},
    {"one round of stripes", kDangerous,
     [](const Facts& f) { return f.test.block > 1 && f.test.seq <= f.granule; }},
    {"stripes no power of two", kUsual,
     [](const Facts& f) { return f.test.block > 1 && f.test.block % 2 != 0; }},
};

const Conditions kPositions{
    {"RoPE half above position 256", kDangerous,
     [](const Facts& f) { return reaches(f, Rope::Pairing::kHalf, 256); }},
    {"RoPE interleaved above position 256", kDangerous,
     [](const Facts& f) { return reaches(f, Rope::Pairing::kInterleaved, 256); }},
    {"RoPE half above position 2048", kUsual,
     [](const Facts& f) { return reaches(f, Rope::Pairing::kHalf, 2048); }},
    {"RoPE interleaved above position 2048", kUsual,
     [](const Facts& f) { return reaches(f, Rope::Pairing::kInterleaved, 2048); }},
    {"RoPE half above position 32768", kCostly,
     [](const Facts& f) { return reaches(f, Rope::Pairing::kHalf, 32768); }},
    {"RoPE interleaved above position 32768", kCostly,
     [](const Facts& f) { return reaches(f, Rope::Pairing::kInterleaved, 32768); }},
    {"RoPE above position 100000", Condition::Rank::kCostliest,
     [](const Facts& f) {
       return f.test.rope.pairing != Rope::Pairing::kNone && f.farthest > 100000;
     }},
    {"llama3 RoPE beyond its original length", kUsual,
     [](const Facts& f) {
       return f.test.rope.llama3 &&
              static_cast<double>(f.farthest) > f.test.rope.llama3->original_length;
     }},
};

}  // namespace

Conditions sequence_conditions() {
  Conditions all;
  for (const Conditions& rows : {kLengths, kWorlds, kPositions})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

}  // namespace ringcheck::parity
