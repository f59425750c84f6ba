// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "parity/judge/expected/expected.h"

namespace ringcheck::parity {
namespace {

const ExpectedBalancer& balancer_of(const Case& test) {
  const auto found = ExpectedBalancers::all().find(test.balance);
  if (found == ExpectedBalancers::all().end())
    throw BadCase("balancer " + test.balance + " has no closed form; add parity/judge/expected/balancer/" +
                  test.balance + ".cpp");
  return found->second;
}

// Who holds the positions of a case.
class Owners {
 public:
  explicit Owners(const Case& test)
      : test_(test), balancer_(balancer_of(test)), padded_(slots_of_rank(test) * test.world) {}
  int of(int64_t position) const { return static_cast<int>(balancer_.owner(test_, padded_, position)); }

 private:
  const Case& test_;
  const ExpectedBalancer& balancer_;
  int64_t padded_;
};

int64_t block_elements(const Case& test) {
  return test.batch * test.kv_heads * slots_of_rank(test) * (test.dim + test.dim_v);
}

struct FirstKeySeen {
  int64_t q;
  int64_t operator()(const Window& m) const { return std::max<int64_t>(0, q + 1 - m.width); }
  int64_t operator()(const DocumentCausal& m) const { return q - place(m.documents, q).token; }
  int64_t operator()(const DocumentFull& m) const { return q - place(m.documents, q).token; }
  template <class From0>
  int64_t operator()(const From0&) const { return 0; }
};

struct KeysSeen {
  int64_t q, seq;
  int64_t operator()(const Full&) const { return seq; }
  int64_t operator()(const Causal&) const { return q + 1; }
  int64_t operator()(const Window& m) const { return std::min(q + 1, m.width); }
  int64_t operator()(const Prefix& m) const { return std::min(seq, std::max(q + 1, m.length)); }
  int64_t operator()(const DocumentCausal& m) const {
    const auto at = place(m.documents, q);
    return at.is_token ? at.token + 1 : 0;
  }
  int64_t operator()(const DocumentFull& m) const {
    const auto at = place(m.documents, q);
    return at.is_token ? m.documents[at.document].length : 0;
  }
};

}  // namespace

int64_t slots_of_rank(const Case& test) {
  const int64_t granule = balancer_of(test).granule(test);
  return (test.seq + granule - 1) / granule * granule / test.world;
}

int owner_of(const Case& test, int64_t position) { return Owners(test).of(position); }

int64_t keys_seen(const Case& test, int64_t entry, int64_t position) {
  const int64_t length = test.lengths.empty() ? test.seq : test.lengths.at(static_cast<size_t>(entry));
  return position < length ? std::visit(KeysSeen{position, length}, test.mask) : 0;
}

int64_t first_key_seen(const Case& test, int64_t position) {
  return std::visit(FirstKeySeen{position}, test.mask);
}

std::vector<std::vector<int64_t>> slots_of_ranks(const Case& test) {
  const Owners owners(test);
  const int64_t padded = slots_of_rank(test) * test.world;
  std::vector<std::vector<int64_t>> slots(test.world);
  for (int64_t position = 0; position < padded; ++position) slots.at(owners.of(position)).push_back(position);
  return slots;
}

int64_t sum_of_entries(const Case& test, const std::function<int64_t(int64_t entry)>& of) {
  if (test.lengths.empty()) return test.batch * of(0);
  int64_t sum = 0;
  for (int64_t entry = 0; entry < test.batch; ++entry) sum += of(entry);
  return sum;
}

int64_t pads_of_rank(const Case& test, int rank) {
  const Owners owners(test);
  const int64_t slots = slots_of_rank(test);
  const auto pads = [&](int64_t entry) {
    int64_t tokens = 0;
    for (int64_t q = 0; q < test.seq; ++q)
      tokens += owners.of(q) == rank && keys_seen(test, entry, q) > 0;
    return slots - tokens;
  };
  return test.lengths.empty() ? pads(0) : sum_of_entries(test, pads);
}

int64_t pairs_of(const Case& test, int rank) {
  const Owners owners(test);
  return test.q_heads * sum_of_entries(test, [&](int64_t entry) {
           int64_t sum = 0;
           for (int64_t q = 0; q < test.seq; ++q)
             if (owners.of(q) == rank) sum += keys_seen(test, entry, q);
           return sum;
         });
}

int64_t pairs_of(const Case& test) {
  return test.q_heads * sum_of_entries(test, [&](int64_t entry) {
           int64_t sum = 0;
           for (int64_t q = 0; q < test.seq; ++q) sum += keys_seen(test, entry, q);
           return sum;
         });
}

std::vector<int64_t> pairs_by_head(const Case& test, const HeadRange& heads, int64_t pairs) {
  std::vector<int64_t> by_head(test.kv_heads);
  for (int64_t head = heads.begin; head < heads.begin + heads.count; ++head)
    by_head.at(head) = pairs / heads.count;
  return by_head;
}

// float64 stays, else float32.
int64_t wide_bytes(const Case& test) { return test.dtype == at::kDouble ? 8 : 4; }

int64_t kv_block_bytes(const Case& test) {
  return block_elements(test) * static_cast<int64_t>(c10::elementSize(test.dtype));
}

int64_t gradient_block_bytes(const Case& test) {
  return block_elements(test) * wide_bytes(test);
}

int64_t partial_bytes(const Case& test) {
  return test.batch * test.q_heads * slots_of_rank(test) * (test.dim_v + 1) * wide_bytes(test);
}

int64_t query_gradient_bytes(const Case& test) {
  return test.batch * test.q_heads * slots_of_rank(test) * test.dim * wide_bytes(test);
}

}  // namespace ringcheck::parity
