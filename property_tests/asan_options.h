// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// RINGCHECK_ASAN_OPTIONS("a=0:b=1"), once in a program: how ASan is to run it, where it was built with it.
// kSlowerByAsan: how much longer it may take then.
#ifdef __SANITIZE_ADDRESS__
#define RINGCHECK_ASAN_OPTIONS(options) \
  extern "C" const char* __asan_default_options() { return options; }
namespace ringcheck {
inline constexpr double kSlowerByAsan = 6;
}
#else
#define RINGCHECK_ASAN_OPTIONS(options)
namespace ringcheck {
inline constexpr double kSlowerByAsan = 1;
}
#endif
