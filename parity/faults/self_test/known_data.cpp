// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include <cmath>

#include "parity/case/problem.h"
#include "parity/faults/self_test/plain_attention.h"
#include "parity/faults/self_test/self_test.h"

namespace ringcheck::parity {
namespace {

// [batch, 1, slots, 1]: where these positions hold no token of a batch entry.
at::Tensor pads_at(const Case& test, const Positions& positions) {
  const std::vector<int64_t> own = flatten(positions);
  const at::Tensor pads = at::ones({test.batch, 1, static_cast<int64_t>(own.size()), 1}, at::kBool);
  for (int64_t entry = 0; entry < test.batch; ++entry) {
    const std::vector<plain::Token> tokens = plain::tokens_of(mask_of(test, entry));
    for (size_t slot = 0; slot < own.size(); ++slot)
      if (own[slot] < std::ssize(tokens) && tokens[own[slot]].document >= 0)
        pads[entry][0][static_cast<int64_t>(slot)].fill_(false);
  }
  return pads;
}

// NaN in all of every pad, and nowhere else: behind the end of the sequence, within it, and behind the end of a batch entry.
void examine_pads(SelfTest& result) {
  for (const char* text : {"ring:p2p/striped[2]/causal/P3/b2/hq4/hkv2/s37/d4/dv6/float32",
                           "ring:p2p/headtail/doc[5,3:5,2]/P2/b1/hq2/hkv1/d4/dv4/bf16",
                           "ring:p2p/contiguous/full/P2/lengths:9+14/hq2/hkv1/d4/dv4/float64"}) {
    const Case test = parse_case(text);
    for (const Positions& shard : layout_of(test).queries) {
      const Problem p = problem_of(test, shard);
      const at::Tensor pads = pads_at(test, shard);
      for (const auto& [name, x] : {std::pair("q", p.q), {"k", p.k}, {"v", p.v}, {"dO", p.d_o}})
        result.demand(x.isnan().equal(pads.expand_as(x)),
                      c10::str("the ", name, " of a problem is not NaN in its pads alone, in ", text));
    }
  }
}

// Root mean squares, of 8192 numbers.
struct Spread {
  const char* family;
  double q, v;
};
constexpr Spread kSpreads[] = {{"normal", 1.02, 1.02}, {"spread3", 1.786, 1.02}, {"peaked", 2.55, 1.02}, {"flat", 0.1276, 1.02},
                               {"uniform", 0.577, 0.577}, {"offset", 1.786, 100}};

Problem problem_in(const std::string& family) {
  return problem_of(parse_case(family + "/full/P1/b1/hq4/hkv4/s256/d8/dv8/float32"));
}

// Data are as wide as they are said to be.
void examine_spreads(SelfTest& result) {
  for (const Spread& spread : kSpreads) {
    const Problem p = problem_in(spread.family);
    for (const auto& [name, x, known] : {std::tuple("q", p.q, spread.q), {"v", p.v, spread.v}}) {
      const double found = x.square().mean().sqrt().item<double>();
      result.demand(std::abs(found - known) <= 0.05 * known,
                    c10::str("the ", name, " of ", spread.family, " is ", found, " wide, not ", known));
    }
  }
  // One value in a thousand is ten times as large. The others are sums of eight numbers, and below 5.
  const Problem p = problem_in("outliers");
  for (const auto& [name, x] : {std::pair("q", p.q), {"k", p.k}, {"v", p.v}}) {
    const auto large = x.abs().gt(5).sum().item<int64_t>();
    result.demand(0 < large && large <= 20,
                  c10::str("the ", name, " of outliers has ", large, " values above 5 among ", x.numel()));
  }
}

// Queries of every rank choose keys of every rank that they see.
void examine_routes(SelfTest& result) {
  for (const char* mask : {"full", "causal"}) {
    const Case test = parse_case(c10::str("ring:p2p/contiguous/P3/b2/hq2/hkv2/s96/d8/dv4/float32/routing/", mask));
    const Problem p = problem_of(test);
    const int64_t share = test.seq / test.world;
    const at::Tensor keys = at::matmul(p.q, p.k.transpose(2, 3)).argmax(3);
    const at::Tensor chosen = keys.floor_divide(share).view({-1, test.world, share});
    for (int64_t rank = 0; rank < test.world; ++rank)
      for (int64_t other = 0; other < test.world; ++other) {
        const bool sees = other <= rank || std::string(mask) == "full";
        const std::string who = sees ? "no query" : "a query";
        result.demand(chosen.select(1, rank).eq(other).any().item<bool>() == sees,
                      c10::str(who, " of rank ", rank, " chooses a key of rank ", other, " in ", to_text(test)));
      }
  }
}

// No head, batch entry or channel is another one again.
void examine_repeats(SelfTest& result) {
  const Problem p = problem_of(parse_case("normal/full/P1/b3/hq6/hkv6/s5/d200/dv200/float32"));
  for (const auto& [name, x] : {std::pair("q", p.q), {"k", p.k}, {"v", p.v}, {"dO", p.d_o}})
    for (const int64_t along : {0, 1, 3}) {
      const at::Tensor rows = x.movedim(along, 0).flatten(1);
      const at::Tensor equal = rows.unsqueeze(0).eq(rows.unsqueeze(1)).all(2);
      result.demand(equal.sum().item<int64_t>() == rows.size(0), c10::str("two of the ", rows.size(0), " in dimension ", along, " of ", name, " are equal"));
    }
}

// Who holds which token, of twelve.
void examine_shards(SelfTest& result) {
  using Table = std::vector<std::vector<int64_t>>;
  for (const auto& [balance, known] :
       {std::pair("contiguous", Table{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}), {"headtail", Table{{0, 1, 10, 11}, {2, 3, 8, 9}, {4, 5, 6, 7}}},
        {"striped[2]", Table{{0, 1, 6, 7}, {2, 3, 8, 9}, {4, 5, 10, 11}}}}) {
    const Layout layout = layout_of(parse_case(c10::str("ring:p2p/", balance, "/full/P3/s12")));
    for (size_t rank = 0; rank < known.size(); ++rank)
      for (const Positions& held : {layout.queries.at(rank), layout.keys.at(rank)})
        result.demand(flatten(held) == known[rank], c10::str("rank ", rank, " of 3 holds other tokens than ", known[rank], " under ", balance));
  }
}

// Many documents, with pads behind each: which slot is which token of which.
void examine_documents(SelfTest& result) {
  std::string lengths;
  for (int document = 0; document < 40; ++document) lengths += c10::str(document > 0 ? "," : "", 1 + document % 3, ":", 3 + document % 2);
  const Mask mask = mask_of(parse_case("doc[" + lengths + "]"));
  const std::vector<plain::Token> known = plain::tokens_of(mask);
  for (int64_t slot = 0; slot < mask.length; ++slot) {
    const ringcheck::Place found = ringcheck::place(*documents(mask), slot);
    result.demand(found.is_token == (known[slot].document >= 0) && (!found.is_token || found.token == known[slot].index),
                  c10::str("slot ", slot, " of 40 documents is taken for token ", found.token, ", which is ", known[slot].index));
  }
}

}  // namespace

void examine_data(SelfTest& result) {
  examine_pads(result);
  examine_spreads(result);
  examine_routes(result);
  examine_repeats(result);
  examine_shards(result);
  examine_documents(result);
}

}  // namespace ringcheck::parity
