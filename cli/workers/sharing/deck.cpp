// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/sharing/deck.h"

#include <stdexcept>

#include "cli/usage_error.h"

namespace ringcheck::cli {
namespace {

// One more than cases: of nothing no memory can be mapped.
size_t bytes_of(size_t cases) { return (cases + 1) * sizeof(int32_t); }

constexpr const char* kWhat = "what workers share the cases by,";

template <class Mapped>
MappedFile usable(const Mapped& mapped) try {
  return mapped();
} catch (const std::runtime_error& error) {
  throw UsageError(std::string(error.what()) + "; let TMPDIR name a folder with more space");
}

}  // namespace

Deck Deck::create(const std::string& path, size_t cases) {
  return Deck(usable([&] { return MappedFile::create(kWhat, path, bytes_of(cases)); }));
}

Deck Deck::open(const std::string& path) {
  return Deck(usable([&] { return MappedFile::open(kWhat, path); }));
}

size_t Deck::size() const { return file_.bytes() / sizeof(int32_t) - 1; }

std::optional<size_t> Deck::take(int32_t taker) const {
  for (size_t index = 0; index < size(); ++index) {
    int32_t nobody = kNobody;
    if (taker_of(index).compare_exchange_strong(nobody, taker)) return index;
  }
  return std::nullopt;
}

std::vector<size_t> Deck::of(int32_t taker) const {
  std::vector<size_t> own;
  for (size_t index = 0; index < size(); ++index)
    if (taker_of(index) == taker) own.push_back(index);
  return own;
}

void Deck::put_back(size_t index) const { taker_of(index) = kNobody; }

}  // namespace ringcheck::cli
