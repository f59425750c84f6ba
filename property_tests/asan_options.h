// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// RINGCHECK_ASAN_OPTIONS("a=0:b=1"), once in a program: how ASan is to run it, where it was built with it.
#ifdef __SANITIZE_ADDRESS__
#define RINGCHECK_ASAN_OPTIONS(options) \
  extern "C" const char* __asan_default_options() { return options; }
#else
#define RINGCHECK_ASAN_OPTIONS(options)
#endif

namespace ringcheck {

// How much longer it may take, where it was built with ASan or TSan.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double kSlowerBySanitizer = 6;
#else
inline constexpr double kSlowerBySanitizer = 1;
#endif

}  // namespace ringcheck
