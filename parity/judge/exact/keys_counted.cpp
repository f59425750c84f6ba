// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/judge/exact/keys_counted.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>

#include "parity/judge/expected/expected.h"
#include "reference/mask.h"

namespace ringcheck::parity {
namespace {

// The queries of one rank and head of a batch entry, and what they saw too much, by block.
struct Rows {
  int64_t entry;
  std::vector<int64_t> queries;
  at::Tensor surplus;  // [queries, blocks]
};

// The visible keys of rank `owner`, by query and block.
at::Tensor held_by(const Case& test, int owner, const Rows& rows, const at::Tensor& blocks) {
  const Mask mask = mask_of(test, rows.entry);
  const at::Tensor pairs =
      at::zeros({static_cast<int64_t>(rows.queries.size()), test.seq}, at::kDouble);
  double* pair = pairs.mutable_data_ptr<double>();
  for (const int64_t query : rows.queries)
    for (int64_t key = 0; key < test.seq; ++key)
      *pair++ = owner_of(test, key) == owner && visible(mask, query, key) ? 1 : 0;
  return at::matmul(pairs, blocks);
}

std::string either(const std::vector<std::string>& explanations) {
  if (explanations.size() > 3) return "";
  std::string text;
  for (const std::string& one : explanations) text += (text.empty() ? ": " : ", or ") + one;
  return text;
}

// Which ranks' keys, missing or doubled, give just this surplus in every query.
std::string explanation(const Case& test, const Rows& rows, const at::Tensor& blocks) {
  std::vector<at::Tensor> held;
  for (int owner = 0; owner < test.world; ++owner)
    held.push_back(held_by(test, owner, rows, blocks));
  std::vector<std::string> list;
  for (int one = 0; one < test.world; ++one) {
    if (rows.surplus.equal(-held[one])) list.push_back(c10::str("keys of rank ", one, " are missing"));
    if (rows.surplus.equal(held[one])) list.push_back(c10::str("keys of rank ", one, " count twice"));
  }
  if (!list.empty()) return either(list);
  for (int lost = 0; lost < test.world; ++lost)
    for (int doubled = 0; doubled < test.world; ++doubled)
      if (lost != doubled && rows.surplus.equal(held[doubled] - held[lost]))
        list.push_back(c10::str("keys of rank ", lost, " are missing and those of rank ", doubled,
                                " count twice"));
  return either(list);
}

// The counts of the first query that saw other keys.
std::string counts(const at::Tensor& surplus, const at::Tensor& expected) {
  const auto* more = surplus.const_data_ptr<double>();
  const auto* due = expected.const_data_ptr<double>();
  if (surplus.numel() == 1) return c10::str("sees ", due[0] + more[0], " keys of ", due[0]);
  std::string text;
  for (int64_t block = 0; block < surplus.numel(); ++block)
    if (more[block] != 0)
      text += c10::str(text.empty() ? "sees " : ", ", due[block] + more[block], " keys of ", due[block],
                       " in block ", block);
  return text;
}

}  // namespace

std::vector<std::string> miscounts(const Case& test, const KeysCounted& keys) {
  std::vector<std::vector<int64_t>> queries(test.world);
  const at::Tensor judged_in_any = keys.judged.any(0)[0];
  for (int64_t query = 0; query < test.seq; ++query)
    if (judged_in_any[query].item<bool>()) queries[owner_of(test, query)].push_back(query);
  const at::Tensor surplus =
      (keys.counted - keys.expected).nan_to_num() * keys.judged.unsqueeze(3);
  std::vector<std::string> findings;
  for (int rank = 0; rank < test.world; ++rank) {
    const at::Tensor own = at::tensor(queries[rank], at::kLong);
    const at::Tensor wrong = surplus.index_select(2, own).ne(0).any(3).nonzero();
    if (wrong.size(0) == 0) continue;
    const int64_t batch = wrong[0][0].item<int64_t>(), head = wrong[0][1].item<int64_t>();
    const int64_t query = queries[rank][wrong[0][2].item<int64_t>()];
    const Rows rows{batch, queries[rank], surplus[batch][head].index_select(0, own)};
    findings.push_back(c10::str(
        "rank ", rank, ", batch ", batch, ", head ", head, ", position ", query, " ",
        counts(surplus[batch][head][query].contiguous(), keys.expected[batch][head][query].contiguous()),
        explanation(test, rows, keys.blocks[batch][head])));
  }
  return findings;
}

}  // namespace ringcheck::parity
