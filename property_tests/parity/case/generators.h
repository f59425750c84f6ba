// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "cp/layout/balancer.h"
#include "cp/attention/partial.h"
#include "parity/case/case_space.h"

namespace ringcheck {

// How RapidCheck prints them.
void showValue(const Mask& mask, std::ostream& out);
void showValue(const Positions& positions, std::ostream& out);
void showValue(const Rope& rope, std::ostream& out);
namespace parity {
void showValue(const Case& test, std::ostream& out);
}

// Generators that do not depend on RapidCheck's size: the first case is as rich as the last.
namespace gen {

// An integer of [low, high]; shrinks towards `low`.
rc::Gen<int64_t> between(int64_t low, int64_t high);

// One of the values; shrinks towards the first.
template <class T>
rc::Gen<T> choice(std::vector<T> values) {
  return rc::gen::map(between(0, static_cast<int64_t>(values.size()) - 1),
                      [values](int64_t index) -> T { return values[index]; });
}

// The name of one member of a registry.
template <class Family>
rc::Gen<std::string> name_of() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : Family::all())
    names.push_back(name);
  return choice(names);
}

rc::Gen<bool> flag();
rc::Gen<int> world();             // 1 ... 8
rc::Gen<uint64_t> seed();         // of tensors: does not shrink
rc::Gen<at::ScalarType> dtype();  // float32, float64, bf16, fp16

// Packed documents over `slots` slots; some end in pads, some hold no token at all.
rc::Gen<Documents> documents(int64_t slots);

// Any of the six masks over `length` slots.
rc::Gen<Mask> mask(int64_t length);

// A sequence cut by a balancer. Its length is granule * n + tail.
struct Cut {
  std::string balancer;
  Sequence sequence;
  int world = 1;

  const BalancerEntry& entry() const { return Balancers::at(balancer); }
  int64_t length() const { return sequence.mask.length; }
  int64_t padded() const;
  Layout layout() const;
};
void showValue(const Cut& cut, std::ostream& out);
rc::Gen<Cut> cut();

// Arbitrary runs, also overlapping, pads and strides, over a sequence of about `length`.
rc::Gen<Positions> positions(int64_t length);

// RoPE of either pairing, base 100 or 10000, with and without the scaling of Llama 3.1.
rc::Gen<Rope> rope();

// A case of the space, or only this one. Shrinks towards simpler() ones.
rc::Gen<parity::Case> of(const parity::CaseSpace& space);
rc::Gen<parity::Case> only(const parity::Case& test);

// A tiny case on a thread world that its kernel does not refuse, with logits of standard
// deviation 3: of law_ranges() on the device of the tests.
rc::Gen<parity::Case> test_case();

// A partial result [batch, heads, rows, dim_v] whose LSE spreads over +-spread; about one row in
// three saw no key.
struct PartialShape {
  int64_t batch = 1, heads = 1, rows = 1, dim_v = 1;
  at::ScalarType dtype = at::kFloat;
};
void showValue(const PartialShape& shape, std::ostream& out);
rc::Gen<PartialShape> partial_shape();
Partial partial(const PartialShape& shape, uint64_t seed, double spread);

}  // namespace gen

// Standard normal values, in the dtype; integers of [-9, 9] for integral ones.
at::Tensor normal(at::IntArrayRef sizes, uint64_t seed, at::ScalarType dtype = at::kFloat);

// Where two tensors first differ in sizes, dtype or any bit, in words; "" where they do not.
std::string difference(const at::Tensor& a, const at::Tensor& b);
std::string difference(const Partial& a, const Partial& b);
inline bool same_bits(const at::Tensor& a, const at::Tensor& b) { return difference(a, b).empty(); }

}  // namespace ringcheck
