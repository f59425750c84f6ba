// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/data_family.h"

#include <Random123/philox.h>

#include <limits>

#include "parity/case/data/independent.h"
#include "parity/case/text.h"

namespace ringcheck::parity {

std::array<uint32_t, 4> Element::bits(uint32_t draw) const {
  using Philox = r123::Philox4x32;
  const auto [c0, c1, c2, c3] = counter(draw);
  const auto [k0, k1] = key();
  const Philox::ctr_type random = Philox()({{c0, c1, c2, c3}}, {{k0, k1}});
  return {random[0], random[1], random[2], random[3]};
}

Element Element::of_all_positions() const {
  Element e = *this;
  e.position = std::numeric_limits<uint64_t>::max();
  return e;
}

double normal(const Element& e) { return independent::normal(e); }

double filled(double value, const Element& e, at::ScalarType dtype) {
  return dtype == at::kDouble ? independent::filled(value, e) : value;
}

bool has_own_tensors(const Task& test) { return parse_call(test.data).name == "tensors"; }

std::optional<std::string> refuses_rope(const Task& test) {
  if (test.rope.pairing == Rope::Pairing::kNone) return std::nullopt;
  return "needs keys that are not rotated, got rope " + rope_text(test.rope) + "; use rope none";
}

}  // namespace ringcheck::parity
