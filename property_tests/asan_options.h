// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ringcheck {
// How much longer programs that are built with it may take.
#ifdef __SANITIZE_ADDRESS__
inline constexpr double kSlowerByAsan = 6;
#else
inline constexpr double kSlowerByAsan = 1;
#endif
}  // namespace ringcheck

// RINGCHECK_ASAN_OPTIONS("a=0:b=1"), once in a program: how ASan is to run it, where it was built with it.
#ifdef __SANITIZE_ADDRESS__
#define RINGCHECK_ASAN_OPTIONS(options) \
  extern "C" const char* __asan_default_options() { return options; }
#else
#define RINGCHECK_ASAN_OPTIONS(options)
#endif
