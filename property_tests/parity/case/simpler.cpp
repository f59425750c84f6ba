// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/parity/case/simpler.h"

#include <functional>

#include "parity/case/data_family.h"

namespace ringcheck {
namespace {

using parity::Case;

// least, then ever closer: ..., value - 2, value - 1.
std::vector<int64_t> below(int64_t value, int64_t least) {
  std::vector<int64_t> list;
  for (int64_t gap = value - least; gap > 0; gap /= 2)
    list.push_back(value - gap);
  return list;
}

// What is made of a case, as long as it can run.
class Candidates {
 public:
  explicit Candidates(const Case& test) : test_(test) {}

  void add(const std::function<void(Case&)>& change) {
    Case changed = test_;
    change(changed);
    if (!(changed == test_) && can_run(changed))
      list_.push_back(std::move(changed));
  }
  std::vector<Case> take() { return std::move(list_); }

 private:
  // Some data families take few cases only.
  static bool can_run(const Case& test) {
    const auto family = parity::DataFamilies::all().find(test.data);
    const bool has_data =
        family == parity::DataFamilies::all().end() || !family->second.refuses(test);
    return has_data && !parity::not_supported(test);
  }

  const Case& test_;
  std::vector<Case> list_;
};

void set_documents(Case& test, const Documents& packed) {
  if (std::holds_alternative<DocumentFull>(test.mask))
    test.mask = DocumentFull{packed};
  else
    test.mask = DocumentCausal{packed};
  test.seq = 0;
  for (const Document& document : packed)
    test.seq += document.slots;
}

// The first `slots` of them.
Documents cut(Documents packed, int64_t slots) {
  Documents left;
  for (Document& document : packed) {
    if (slots == 0)
      break;
    document.slots = std::min(document.slots, slots);
    document.length = std::min(document.length, document.slots);
    slots -= document.slots;
    left.push_back(document);
  }
  return left;
}

void shorten(const Case& test, Candidates& candidates) {
  const Mask mask = parity::mask_of(test);
  const Documents* packed = documents(mask);
  for (const int64_t seq : below(test.seq, 1))
    candidates.add([&](Case& c) {
      c.seq = seq;
      if (packed != nullptr)
        set_documents(c, cut(*packed, seq));
    });
}

void simplify_documents(const Documents& packed, Candidates& candidates) {
  const auto with = [&](const std::function<void(Documents&)>& change) {
    Documents changed = packed;
    change(changed);
    candidates.add([&](Case& c) { set_documents(c, changed); });
  };
  for (size_t i = 0; i < packed.size(); ++i) {
    if (packed.size() > 1)
      with([&](Documents& d) { d.erase(d.begin() + static_cast<std::ptrdiff_t>(i)); });
    with([&](Documents& d) { d[i].length = d[i].slots; });
    for (const int64_t slots : below(packed[i].slots, 1))
      with([&](Documents& d) { d[i] = {std::min(d[i].length, slots), slots}; });
  }
}

void simplify_mask(const Case& test, Candidates& candidates) {
  const auto to = [&](const decltype(Mask::kind)& mask) {
    candidates.add([&](Case& c) { c.mask = mask; });
  };
  to(Full{});
  if (!std::holds_alternative<Full>(test.mask))
    to(Causal{});
  if (const auto* window = std::get_if<Window>(&test.mask))
    for (const int64_t width : below(window->width, 1))
      to(Window{width});
  if (const auto* prefix = std::get_if<Prefix>(&test.mask))
    for (const int64_t length : below(prefix->length, 0))
      to(Prefix{length});
  const Mask mask = parity::mask_of(test);
  if (const Documents* packed = documents(mask))
    simplify_documents(*packed, candidates);
}

void simplify_shape(const Case& test, Candidates& candidates) {
  for (const int64_t batch : below(test.batch, 1))
    candidates.add([&](Case& c) { c.batch = batch; });
  const int64_t group = test.q_heads / test.kv_heads;
  for (const int64_t heads : below(test.kv_heads, 1))
    candidates.add([&](Case& c) { c.kv_heads = heads, c.q_heads = heads * group; });
  for (const int64_t members : below(group, 1))
    candidates.add([&](Case& c) { c.q_heads = c.kv_heads * members; });
  const int64_t pair = test.rope.pairing == Rope::Pairing::kNone ? 1 : 2;
  for (const int64_t half : below(test.dim / pair, 1))
    candidates.add([&](Case& c) {
      c.dim = half * pair;
      if (test.dim_v == test.dim)
        c.dim_v = c.dim;
    });
  for (const int64_t dim : below(test.dim_v, 1))
    candidates.add([&](Case& c) { c.dim_v = dim; });
}

void simplify_values(const Case& test, Candidates& candidates) {
  candidates.add([](Case& c) { c.rope = {}; });
  candidates.add([](Case& c) { c.rope.llama3.reset(); });
  candidates.add([](Case& c) { c.scale.reset(); });
  candidates.add([](Case& c) { c.data = "normal"; });
  candidates.add([](Case& c) { c.data = "normal", c.seed = 1; });
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16}) {
    if (dtype == test.dtype)
      break;
    candidates.add([&](Case& c) { c.dtype = dtype; });
  }
  candidates.add([](Case& c) { c.seed = 1; });
}

void simplify_parts(const Case& test, Candidates& candidates) {
  candidates.add([](Case& c) { c.strategy = Case{}.strategy; });
  candidates.add([](Case& c) { c.rotation = "p2p", c.keep = false; });
  candidates.add([](Case& c) { c.keep = false; });
  candidates.add([](Case& c) { c.balance = "contiguous", c.block = 1; });
  for (const int64_t block : below(test.block, 1))
    candidates.add([&](Case& c) { c.block = block; });
  candidates.add([](Case& c) { c.kernel = plainest_kernel(parity::device_type_of(c)); });
}

}  // namespace

std::vector<Case> simpler(const Case& test) {
  Candidates candidates(test);
  for (int world = 1; world < test.world; ++world)
    candidates.add([&](Case& c) { c.world = world; });
  shorten(test, candidates);
  simplify_mask(test, candidates);
  simplify_shape(test, candidates);
  simplify_parts(test, candidates);
  simplify_values(test, candidates);
  return candidates.take();
}

}  // namespace ringcheck
