// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/process/mapped_file.h"

namespace ringcheck::cli {

// Which worker has which case of a list: each takes the next one when it is done with its last, so that
// all of them end at about the same time, whatever a case takes. Memory that processes share: what a
// dead one has taken is known.
class Deck {
 public:
  static constexpr int32_t kNobody = 0;

  static Deck create(const std::string& path, size_t cases);  // all of them nobody's
  static Deck open(const std::string& path);  // throws UsageError, as create()

  // The first one that is nobody's, from now on of this taker, above 0.
  std::optional<size_t> take(int32_t taker) const;
  // What a taker has, in order.
  std::vector<size_t> of(int32_t taker) const;
  void put_back(size_t index) const;
  bool empty() const { return of(kNobody).empty(); }

 private:
  explicit Deck(MappedFile file) : file_(std::move(file)) {}
  size_t size() const;
  std::atomic_ref<int32_t> taker_of(size_t index) const { return std::atomic_ref(static_cast<int32_t*>(file_.data())[index]); }

  MappedFile file_;
};

}  // namespace ringcheck::cli
