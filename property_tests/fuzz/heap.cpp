// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// malloc and its relatives, counted. All memory of this process comes through here, that of
// LibTorch's tensors too; what nobody could mean is not there.
#include "property_tests/fuzz/heap.h"

#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

namespace {

constexpr size_t kMost = size_t{1} << 30;
thread_local ptrdiff_t live = 0, peak = 0;

void* counted(void* memory) {
  if (memory != nullptr) live += static_cast<ptrdiff_t>(::malloc_usable_size(memory));
  peak = std::max(peak, live);
  return memory;
}

bool refused(size_t bytes) {
  if (bytes <= kMost) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

namespace ringcheck::fuzz {

void begin_heap_peak() { live = peak = 0; }
size_t heap_peak() { return static_cast<size_t>(std::max<ptrdiff_t>(0, peak)); }

}  // namespace ringcheck::fuzz

extern "C" {

void* malloc(size_t bytes) { return refused(bytes) ? nullptr : counted(__libc_malloc(bytes)); }

void* calloc(size_t count, size_t bytes) {
  size_t all = 0;
  const bool too_large = __builtin_mul_overflow(count, bytes, &all) || refused(all);
  return too_large ? nullptr : counted(__libc_calloc(count, bytes));
}

void free(void* memory) {
  if (memory != nullptr) live -= static_cast<ptrdiff_t>(::malloc_usable_size(memory));
  __libc_free(memory);
}

void* realloc(void* memory, size_t bytes) {
  if (refused(bytes)) return nullptr;
  if (memory != nullptr) live -= static_cast<ptrdiff_t>(::malloc_usable_size(memory));
  return counted(__libc_realloc(memory, bytes));
}

void* memalign(size_t alignment, size_t bytes) {
  return refused(bytes) ? nullptr : counted(__libc_memalign(alignment, bytes));
}

void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}

}  // extern "C"
