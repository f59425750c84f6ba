// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// GCC says at every edge of code compiled with -fsanitize-coverage=trace-pc where it is; libFuzzer
// searches by counters of this section. (It knows comparisons by itself.)
#include <cstdint>

namespace {

__attribute__((section("__libfuzzer_extra_counters"))) uint8_t counters[1 << 13];

}  // namespace

extern "C" void __wrap___sanitizer_cov_trace_pc() {
  // Places relative to this one are the same in every run.
  const auto place = reinterpret_cast<uintptr_t>(__builtin_return_address(0)) -
                     reinterpret_cast<uintptr_t>(&__wrap___sanitizer_cov_trace_pc);
  ++counters[(place * 0x9e3779b97f4a7c15U) >> (64 - 13)];
}

// GCC tells of these comparisons, too; libFuzzer does not ask.
extern "C" void __sanitizer_cov_trace_cmpf(float, float) {}
extern "C" void __sanitizer_cov_trace_cmpd(double, double) {}
