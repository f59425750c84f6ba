// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/data_family.h"

#include <Random123/philox.h>

#include <limits>

namespace ringcheck::parity {

std::array<uint32_t, 4> Element::bits(uint32_t draw) const {
  using Philox = r123::Philox4x32;
  const Philox::ctr_type counter{{channel | static_cast<uint32_t>(which) << 24 | draw << 28,
                                  head | batch << 16, static_cast<uint32_t>(position),
                                  static_cast<uint32_t>(position >> 32)}};
  const Philox::key_type key{{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}};
  const Philox::ctr_type random = Philox()(counter, key);
  return {random[0], random[1], random[2], random[3]};
}

Element Element::of_all_positions() const {
  Element e = *this;
  e.position = std::numeric_limits<uint64_t>::max();
  return e;
}

// Irwin-Hall with eight terms. Integers up to the last step, so that what follows can be exact in
// float32.
double normal(const Element& e) {
  int32_t sum = 0;
  for (const uint32_t word : e.bits(0)) sum += static_cast<int32_t>((word & 0x7fff) + (word >> 17));
  return (sum - 4 * 0x7fff) * 5.0 / 0x20000;
}

double filled(double value, const Element& e, at::ScalarType dtype) {
  if (dtype != at::kDouble) return value;
  return value * (1 + static_cast<int32_t>(e.bits(2)[0]) * 0x1p-58);
}

std::optional<std::string> refuses_rope(const Task& test) {
  if (test.rope.pairing == Rope::Pairing::kNone) return std::nullopt;
  return "needs keys that are not rotated, got rope " + rope_text(test.rope) + "; use rope none";
}

}  // namespace ringcheck::parity
