// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "parity/case/data_family.h"

namespace ringcheck::parity {
namespace {

constexpr uint64_t kPeriod = 64;

// In half of the key-value heads the queries are 0, in the others the keys.
bool is_zero(const Task& test, Element e) {
  const bool query = e.which == Which::kQ;
  if (query) e.head /= static_cast<uint32_t>(test.q_heads / test.kv_heads);
  e.which = Which::kK;
  return (e.of_all_positions().bits(3)[0] & 1) == (query ? 1U : 0U);
}

// 0 or 1, the same every 64 keys: the mean over 64 a keys in a row is some m / 64.
double value(Element e) {
  e.position %= kPeriod;
  return e.bits(0)[0] & 1;
}

void fill(const Task& test, Element e, std::span<double> row) {
  std::ranges::fill(row, 0);
  if (e.which == Which::kDo) {  // +1 or -1 in one channel
    const auto random = e.bits(0);
    row[random[0] % row.size()] = (random[1] & 1) != 0 ? 1 : -1;
    return;
  }
  if (is_score(e.which) && is_zero(test, e)) return;
  for (double& x : row) {
    x = e.which == Which::kV ? value(e) : e.bits(0)[0] % 3 - 1.0;
    ++e.channel;
  }
}

bool is_power_of_two(int64_t n) { return std::has_single_bit(static_cast<uint64_t>(n)); }

bool sees_powers_of_two(const Mask& mask) {
  if (std::holds_alternative<Full>(mask.kind)) return (mask.length == 0 || is_power_of_two(mask.length));
  const auto* packed = std::get_if<DocumentFull>(&mask.kind);
  return packed != nullptr && std::ranges::all_of(packed->documents, [](const Document& d) {
           return d.length == 0 || is_power_of_two(d.length);
         });
}

std::optional<std::string> refuses(const Task& test) {
  if (const auto reason = refuses_rope(test)) return reason;
  int exponent = 0;
  if (std::abs(std::frexp(scale_of(test), &exponent)) != 0.5)
    return c10::str("needs a power of two as scale, got ", scale_of(test), "; use scale 0.25");
  if (!std::ranges::all_of(entries_of(test), sees_powers_of_two, &Entries::mask))
    return c10::str("needs queries that see 2^k keys, got mask ", mask_text(test.mask), " over ",
                    test.seq, " slots; use full or docfull[...] over powers of two");
  return std::nullopt;
}

DataFamily snap() {
  DataFamily family{"q or k = 0, v in {0, 1}, dO a unit vector: results of few bits", fill, refuses};
  family.silent = {"dq", "dk", "dv"};  // sums of a few integers, which may all be 0
  return family;
}

const DataFamilies::Add registered{"snap", snap()};

}  // namespace
}  // namespace ringcheck::parity
