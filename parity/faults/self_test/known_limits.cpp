// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "parity/faults/self_test/plain_subject.h"
#include "parity/faults/self_test/self_test.h"
#include "parity/faults/self_test/spoilt.h"
#include "parity/judge/relation.h"

namespace ringcheck::parity {
namespace {

constexpr const char* kRandom = "causal/P5/b2/hq4/hkv2/s15/d4/dv6/float64";
constexpr const char* kTurned = "causal/P3/b1/hq2/hkv1/s15/d4/dv4/rope:half[100]/float64";
constexpr const char* kEqualKeys = "equal-keys/causal/P3/b1/hq2/hkv1/s15/d4/dv4/float64";
constexpr int kOfCase = -1;

// By how much of itself one row may be off, the one at position 7 of the first head: of the run of a case, or of a further
// one. That this is what the formulas give is the business of property_tests/parity.
struct Limit {
  const char *oracle, *test, *tensor;
  double most;
  int run = kOfCase;
};
constexpr Limit kLimits[] = {
    {"balancers", kRandom, "o", 8.55e-15, 0},
    {"census", "census/causal/P3/b1/hq2/hkv1/s15/d4/dv4/float32", "lse", 7.6e-7},
    {"channel-order", kRandom, "dk", 1.83e-14, 0},
    {"conservation", kRandom, "o", 7.03e-13},
    {"conservation", kRandom, "dk", 3.11e-13},
    {"conservation", kRandom, "dv", 3.93e-13},
    {"constant-v", "ones/causal/P3/b1/hq2/hkv1/s15/d4/dv4/float64", "o", 8.55e-15},
    {"difference-quotient", kRandom, "dv", 1.27e-8},
    {"equal-keys", kEqualKeys, "o", 2.06e-14},
    {"equal-keys", kEqualKeys, "lse", 4.11e-15},
    {"head-order", kRandom, "o", 9.22e-15, 0},
    {"key-shift", kRandom, "lse", 3.22e-15, 1},
    {"rope", "causal/P3/b1/hq2/hkv1/s15/d4/dv4/rope:half[100]/bf16", "q", 0x1p-8},
    {"rope", "causal/P3/b1/hq2/hkv1/s15/d4/dv4/rope:half[100]/fp16", "k", 0x1p-11},
    {"rope-norms", kTurned, "q", 1.67e-15},
    {"rope-norms", kTurned, "k", 1.67e-15},
    {"routing", "routing/causal/P3/b1/hq2/hkv1/s15/d8/dv4/float64", "lse", 7.8e-16},
    {"splitting", kRandom, "o", 8.11e-15, 0},
    {"splitting", kRandom, "lse", 3.0e-15, 0},
    {"worlds", kRandom, "dq", 1.14e-14, 0}};

// A case, and right outcomes of the further runs of an oracle.
struct Asked {
  const Oracle& oracle;
  const AskOracle& judge;
  Known known;
  std::vector<Outcome> others = {};

  Asked(const std::string& name, const AskOracle& judge, const char* text)
      : oracle(Oracles::at(name)), judge(judge), known(parse_case(text)) {
    if (oracle.variations)
      for (const Run& run : oracle.variations(known.test))
        others.push_back(plain::answer(run));
  }
  Status status(const Outcome& outcome, const std::vector<Outcome>& variations) const {
    return judge(oracle, {known.test, plain::subject(), known.problem, outcome, variations, [] {}}).status;
  }
  // One row, moved by this share of itself.
  Status moved(const Limit& limit, double share) const {
    Outcome outcome = known.clean;
    std::vector<Outcome> variations = others;
    at::Tensor& x = *find(limit.run == kOfCase ? outcome : variations.at(limit.run), limit.tensor);
    x = x.clone();
    x[0][0][7].mul_(1 + share);
    return status(outcome, variations);
  }
};

void examine_limit(const Limit& limit, const Asked& asked, SelfTest& result) {
  for (const double times : {0.5, 2.}) {  // last bits of the truth are others on other processors
    const bool fails = asked.moved(limit, times * limit.most) == Status::kFail;
    result.demand(fails == (times > 1), c10::str(limit.oracle, fails ? " refuses" : " accepts", " a row of ", limit.tensor, " that is off by ",
                                                 times, " times what it may be"));
  }
}

// A NaN in any other channel, head or batch entry than those that it can reach.
void examine_strays(const AskOracle& judge, SelfTest& result) {
  const Asked asked("visible-nan", judge, kRandom);
  for (const auto& [run, tensor] : {std::pair(0, "o"), {1, "dv"}})
    for (const auto& [entry, head, channel] : {std::tuple(0, 0, 1), {0, -1, 0}, {1, 0, 0}}) {
      std::vector<Outcome> others = asked.others;
      at::Tensor& x = *find(others.at(run), tensor);
      x = x.clone();
      x[entry][head][7][channel].fill_(NAN);
      result.demand(asked.status(asked.known.clean, others) == Status::kFail,
                    c10::str("visible-nan accepts a NaN of ", tensor, " in batch entry ", entry, ", head ", head, ", channel ", channel));
    }
}

// A rank may need a hundredth more on twice as many ranks.
void examine_growth(const AskOracle& judge, SelfTest& result) {
  constexpr int64_t kPeak = 100 << 20;
  Asked asked("memory-growth", judge, "causal/P8/b1/hq1/hkv1/s16/d4/dv4/float64");
  for (RankRecord& rank : asked.others.front().ranks)
    rank.peak_bytes = kPeak;
  for (const double percent : {0.75, 1.3}) {
    Outcome grown = asked.known.clean;
    grown.ranks.back().peak_bytes = kPeak + static_cast<int64_t>(percent / 100 * kPeak);
    const bool fails = asked.status(grown, asked.others) == Status::kFail;
    result.demand(fails == (percent > 1), c10::str("memory-growth ", fails ? "refuses" : "accepts", " ", percent, " % more on twice as many ranks"));
  }
}

// Ranks move and attend in a further run what they do in the case's own; what they hold is the business of an allocator.
void examine_counters_of_runs(const std::string& oracle, const AskOracle& judge, SelfTest& result) {
  const Asked asked(oracle, judge, "causal/P2/b1/hq1/hkv1/s4/d4/dv4/float64");
  for (size_t run = 0; run < asked.others.size(); ++run)
    for (const Miscounted& wrong : miscounted(asked.others[run])) {
      const RankRecord &found = wrong.outcome.ranks[wrong.rank], &due = asked.others[run].ranks[wrong.rank];
      const bool held = found.forward_stock != due.forward_stock || found.backward_stock != due.backward_stock;
      std::vector<Outcome> others = asked.others;
      others[run] = wrong.outcome;
      const bool fails = asked.status(asked.known.clean, others) == Status::kFail;
      result.demand(fails != held, c10::str(oracle, fails ? " refuses " : " accepts ", wrong.how, " in further run ", run));
    }
}

// The gradient nearest to zero, where what its terms leave is largest beside it, moved to the next number of 16 bits.
void examine_rounding(const AskOracle& judge, SelfTest& result) {
  const Asked asked("snap", judge, "snap/full/P2/b1/hq2/hkv1/s16/d4/dv4/scale:0.5/bf16");
  for (const char* name : {"dq", "dk", "dv"}) {
    Outcome wrong = asked.known.clean;
    at::Tensor& x = *find(wrong, name);
    x = x.clone();
    const at::Tensor size = x.abs().masked_fill(x == 0, INFINITY);
    const at::Tensor smallest = x.view(-1)[size.argmin().item<int64_t>()];
    smallest.copy_(smallest.nextafter(at::full_like(smallest, 1e3)));
    result.demand(asked.status(wrong, asked.others) == Status::kFail, c10::str("snap accepts the number next to the smallest of ", name));
  }
}

// The next number is another one, in every dtype.
void examine_same_bits(SelfTest& result) {
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor x = at::ones({2, 4, 15, 6}, dtype), y = x.clone(), first = y.view(-1)[0];
    first.copy_(first.nextafter(at::full_like(first, 2)));
    result.demand(same_bits(parse_case(kRandom), "o", y, x).status == Status::kFail, c10::str("the number next to 1 has the same bits as 1 in ", dtype));
  }
}

// What is multiplied by a power of two may be off by three last places in float64, and by one in bf16.
void examine_multiple(SelfTest& result) {
  for (const auto& [dtype, most] : {std::pair(at::kDouble, 3), {at::kBFloat16, 1}})
    for (const int places : {most, most + 1}) {
      const at::Tensor one = at::ones({1, 1}, dtype), exact = one * 2, last_place = dtype == at::kDouble ? one * 0x1p-51 : one * 0x1p-6;
      const bool accepted = same_values(multiple(2, one, exact + places * last_place), exact + places * last_place);
      result.demand(accepted == (places == most), c10::str("a multiple that is off by ", places, " last places of ", dtype, " is ",
                                                           accepted ? "accepted" : "refused"));
    }
}

}  // namespace

void examine_limits(const std::vector<std::string>& oracles, const AskOracle& judge, SelfTest& result) {
  const auto is_asked = [&](const std::string& name) { return std::ranges::find(oracles, name) != oracles.end(); };
  for (const Limit& limit : kLimits)
    if (is_asked(limit.oracle))
      examine_limit(limit, Asked(limit.oracle, judge, limit.test), result);
  if (is_asked("visible-nan"))
    examine_strays(judge, result);
  if (is_asked("memory-growth"))
    examine_growth(judge, result);
  for (const char* name : {"groups", "repetition"})
    if (is_asked(name))
      examine_counters_of_runs(name, judge, result);
  if (is_asked("snap"))
    examine_rounding(judge, result);
  examine_same_bits(result);
  examine_multiple(result);
}

}  // namespace ringcheck::parity
