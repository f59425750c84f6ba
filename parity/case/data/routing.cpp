// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include <bit>
#include <cmath>

#include "parity/case/data_family.h"

namespace ringcheck::parity {
namespace {

// Key j is its number in binary, as -1 and +1, over and over; query i is beta times the key pi(i).
// Two keys differ in `repeats` channels at least, so the score of pi(i) is 2 tau beta repeats above
// all others.
struct Code {
  int64_t bits, repeats;
};

Code code_of(const Task& test) {
  const int64_t bits = std::max(1, static_cast<int>(std::bit_width(static_cast<uint64_t>(test.seq - 1))));
  return {bits, test.dim / bits};
}

// So far below the largest score, all other keys together leave nothing in the accumulation type:
// exp(-104) is below half of its smallest number, exp(-746) in float64.
double gap(const Task& test) {
  return (test.dtype == at::kDouble ? 752 : 112) + std::log2(static_cast<double>(test.seq));
}

// A power of two with the sign of the scale, so that a product with it is exact.
double beta(const Task& test) {
  const double scale = scale_of(test);
  const double least = gap(test) / (2 * std::abs(scale) * static_cast<double>(code_of(test).repeats));
  return std::copysign(std::ldexp(1, std::ilogb(least) + 1), scale);
}

// The key pi(i) of a query: one that it sees, at most as far away as a random try that is halved
// until it is seen. Every query with a token sees itself.
int64_t route(const Task& test, const Element& query) {
  const Mask mask = mask_of(test, query.batch);
  const auto i = static_cast<int64_t>(query.position);
  for (int64_t reach = test.seq, draw = 0; reach > 0; reach /= 2, ++draw) {
    const auto random = static_cast<int64_t>(query.bits(static_cast<uint32_t>(3 + draw % 8))[draw / 8 % 4]);
    const int64_t key = i - reach + random % (2 * reach + 1);
    if (visible(mask, i, key)) return key;
  }
  return i;
}

// Which bits are flipped, so that the codes of heads differ.
uint64_t flipped(Element e, const Task& test) {
  if (e.which == Which::kQ) e.head /= static_cast<uint32_t>(test.q_heads / test.kv_heads);
  e.which = Which::kK;
  return e.of_all_positions().bits(3)[0];
}

void fill(const Task& test, Element e, std::span<double> row) {
  if (!is_score(e.which)) {
    for (double& x : row) {  // small integers
      x = e.which == Which::kV ? e.bits(0)[0] % 255 - 127.0 : e.bits(0)[0] % 5 - 2.0;
      ++e.channel;
    }
    return;
  }
  const bool query = e.which == Which::kQ;
  const uint64_t key = query ? static_cast<uint64_t>(route(test, e)) : e.position;
  const uint64_t code = key ^ flipped(e, test);
  const int64_t bits = code_of(test).bits;
  const double one = query ? beta(test) : 1;
  for (size_t c = 0; c < row.size(); ++c)
    row[c] = (code >> (static_cast<int64_t>(c) % bits) & 1) != 0 ? one : -one;
}

std::optional<std::string> refuses(const Task& test) {
  if (const auto reason = refuses_rope(test)) return reason;
  const Code code = code_of(test);
  if (code.repeats == 0)
    return c10::str("writes the number of a key in ", code.bits, " channels, dim is ", test.dim,
                    "; use a larger dim or at most ", int64_t{1} << test.dim, " slots");
  if (scale_of(test) == 0 || std::abs(beta(test)) > 0x1p15)
    return c10::str("cannot set scores ", gap(test), " apart with scale ", scale_of(test),
                    "; use a scale further from 0");
  return std::nullopt;
}

DataFamily routing() {
  DataFamily family{"every query chooses one visible key: O is the v of that key", fill, refuses};
  family.silent = {"dq", "dk"};  // softmax is constant
  return family;
}

const DataFamilies::Add registered{"routing", routing()};

}  // namespace
}  // namespace ringcheck::parity
