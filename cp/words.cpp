// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/words.h"

#include <c10/util/Exception.h>

namespace ringcheck {

std::string words_of(const std::exception& error) {
  const auto* torchs = dynamic_cast<const c10::Error*>(&error);
  const std::string words = torchs == nullptr ? error.what() : torchs->what_without_backtrace();
  return words.starts_with("[json.exception") ? words.substr(words.find("] ") + 2) : words;
}

}  // namespace ringcheck
