// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "property_tests/parity/oracles/exact_cases.h"

#include <bit>

#include "property_tests/test_device.h"

namespace ringcheck {

const std::vector<ExactOracle>& exact_oracles() {
  static const std::vector<ExactOracle> list{
      {"census", "census", {"lse"}},
      {"census", "snap", {"lse"}},
      {"ownership", "census", {"o"}},
      {"routing", "routing", {"o", "lse"}, true},
      {"routing-gradients", "routing", {"dq", "dk", "dv"}, true},
      {"snap", "snap", {"o", "dq", "dk", "dv"}, true},
      {"constant-v", "ones", {"o"}},
      {"equal-keys", "equal-keys", {"o", "lse"}}};
  return list;
}

namespace gen {
namespace {

// Documents of 2^k tokens, some with pads behind them.
rc::Gen<Documents> documents_of_powers() {
  return rc::gen::exec([] {
    Documents packed;
    for (int64_t left = *between(1, 4); left > 0; --left) {
      const int64_t length = int64_t{1} << *between(0, 6);
      packed.push_back({length, length + (*flag() ? *between(0, 5) : 0)});
    }
    return packed;
  });
}

// What is exact after rounding: 16 bits, and a kernel that does not round partial results.
void make_snap(parity::Case& test) {
  test.scale = *choice<double>({0.25, -0.5, 1});
  test.dtype = *choice<at::ScalarType>({at::kBFloat16, at::kHalf});
  test.kernel = plainest_kernel(test_device_type());
  if (*flag()) {
    test.mask = Full{};
    test.seq = int64_t{1} << *between(0, 8);
  } else {
    const Documents packed = *documents_of_powers();
    test.mask = DocumentFull{packed};
    test.seq = parity::slots_of(packed);
  }
}

}  // namespace

rc::Gen<parity::Case> exact_case(const std::string& family) {
  return rc::gen::exec([family] {
    parity::Case test = *gen::test_case();
    test.data = family;
    if (family == "snap") make_snap(test);
    if (family != "census" && family != "ones") test.rope = {};
    if (family == "routing")
      test.dim = std::max<int64_t>(test.dim, std::bit_width(static_cast<uint64_t>(test.seq)));
    if (test.kernel == "flash") test.dim_v = test.dim;
    parity::validate(test);
    return test;
  });
}

}  // namespace gen
}  // namespace ringcheck
