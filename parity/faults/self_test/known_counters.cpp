// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include "parity/faults/self_test/known_truths.h"
#include "parity/faults/self_test/plain_attention.h"
#include "parity/judge/expected/expected.h"
#include "parity/subject/ours.h"
#include "parity/subject/world.h"

namespace ringcheck::parity {
namespace {

// Visible pairs of the contiguous quarter of the sequence that a rank holds, one by one.
int64_t counted_pairs(const Case& test, int rank) {
  const Mask mask = mask_of(test);
  const auto tokens = plain::tokens_of(mask);
  const int64_t share = test.seq / test.world;
  int64_t pairs = 0;
  for (int64_t q = rank * share; q < (rank + 1) * share; ++q)
    for (int64_t k = 0; k < test.seq; ++k)
      pairs += plain::sees(mask, tokens, q, k);
  return pairs * test.batch * test.q_heads;
}

// Bytes. A stage holds at least the blocks of K and V, and no more than a dozen tensors of a shard in float32.
constexpr int64_t kLittle = 3 * 240, kMuch = 8192;

// Blocks of 2 x 2 heads x 3 slots x (4 + 6) channels are 120 elements: 240 bytes in bf16, 480 of
// float32 for gradients. Three go round forward, three and four of gradients backward.
void examine_ring(const Case& test, SelfTest& result) {
  const auto ranks = expected_counters(test);
  const auto is = [&](int64_t found, int64_t known, const std::string& what) {
    result.demand(found == known, c10::str("the closed form of ", what, " is ", found, ", not ",
                                           known, ", in ", to_text(test)));
  };
  is(static_cast<int64_t>(ranks.size()), 4, "the number of ranks");
  for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
    const ExpectedCounters& found = ranks[rank];
    const int64_t pairs = counted_pairs(test, rank);
    is(found.forward.pairs, pairs, "pairs forward");
    is(found.backward.pairs, pairs, "pairs backward");
    is(found.forward.flops, pairs * 20, "FLOPs forward");
    is(found.backward.flops, pairs * 48, "FLOPs backward");
    is(found.forward.bytes, 3 * 240, "bytes forward");
    is(found.backward.bytes, 3 * 240 + 4 * 480, "bytes backward");
    is(found.forward.messages, 3, "messages forward");
    is(found.backward.messages, 7, "messages backward");
    is(found.forward.steps + found.backward.steps, 8, "steps");
    is(found.forward.merges, 3, "merges");
    is(found.forward.overlapped, 3, "steps forward while a message is under way");
    is(found.backward.overlapped, 4, "steps backward while a message is under way");
    is(found.heads.begin, 0, "the first key-value head attended");
    is(found.heads.count, 2, "key-value heads attended");
    is(found.kv_bytes, 2 * 240, "K and V held");
    is(found.traveller_bytes, 2 * 480, "bytes held of the dK and dV that travel home");
    for (const Stock* stock : {&found.forward_stock, &found.backward_stock})
      for (const int64_t peak : stock->peaks)
        result.demand(peak > kLittle && peak < kMuch,
                      c10::str("the closed form of the peak of a stage is ", peak, ", not between ", kLittle, " and ", kMuch, ", in ",
                               to_text(test)));
    for (int peer = 0; peer < 4; ++peer) {
      is(found.sent_to.at(peer), peer == (rank + 1) % 4 ? 6 * 240 + 4 * 480 : 0, "bytes to a peer");
      is(found.received_from.at(peer), peer == (rank + 3) % 4 ? 6 * 240 + 4 * 480 : 0,
         "bytes from a peer");
    }
  }
}

// Runs of ours that stay within their limits, and nearly reach them.
constexpr const char* kMeasured[] = {
    "ring:p2p/headtail/flash/causal/P3/b2/hq4/hkv2/s384/d32/bf16", "ring:allgather/contiguous/flash/window[70]/P3/b1/hq4/hkv2/s512/d32/float32",
    "gathered/headtail/flash/causal/P2/b1/hq4/hkv2/s512/d32/fp16", "ulysses/contiguous/flash/window[70]/P2/b1/hq4/hkv2/s512/d32/float32"};
constexpr double kClose = 0.8;
constexpr int64_t kSmall = 4096;  // bytes that limits of memory leave out of account

void examine_measured(const char* text, SelfTest& result) {
  const Case test = parse_case(text);
  const auto expected = expected_counters(test);
  const Outcome outcome = solve_on_threads({test}, *ours());
  for (size_t rank = 0; rank < expected.size(); ++rank) {
    const RankRecord& used = outcome.ranks.at(rank);
    const ExpectedCounters& limits = expected[rank];
    const auto is_close = [&](int64_t found, int64_t limit, int64_t slack, const std::string& what) {
      result.demand(found <= limit && static_cast<double>(found + slack) >= kClose * static_cast<double>(limit),
                    c10::str(what, " of rank ", rank, " may be ", limit, " and are ", found, ", in ", text));
    };
    is_close(used.peak_bytes, limits.peak_bytes, kSmall, "bytes at most");
    for (size_t stage = 0; stage < kStages; ++stage) {
      is_close(used.forward_stock.peaks[stage], limits.forward_stock.peaks[stage], kSmall, c10::str("bytes in stage ", stage, " forward"));
      is_close(used.backward_stock.peaks[stage], limits.backward_stock.peaks[stage], kSmall, c10::str("bytes in stage ", stage, " backward"));
    }
    is_close(used.forward.computed, limits.most_computed.value(), 0, "pairs computed forward");
    is_close(used.backward.computed, limits.most_computed.value(), 0, "pairs computed backward");
  }
}

}  // namespace

void examine_closed_forms(SelfTest& result) {
  for (const char* text : kMeasured)
    examine_measured(text, result);
  for (const char* mask :
       {"full", "causal", "window[5]", "doc[5:6,6]", "docfull[5:6,6]", "prefix[4]"})
    examine_ring(
        parse_case(std::string("ring:p2p/contiguous/P4/b2/hq4/hkv2/s12/d4/dv6/bf16/") + mask),
        result);
}

}  // namespace ringcheck::parity
