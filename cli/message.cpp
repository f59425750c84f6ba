// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/message.h"

#include "reports/text.h"

namespace ringcheck::cli {
namespace {

constexpr size_t kBegin = 1000, kEnd = 900;  // bytes: the value stands first, the fix last

std::string shortened(const std::string& text) {
  if (text.size() <= kBegin + kEnd)
    return text;
  return text.substr(0, kBegin) + " [" + std::to_string(text.size() - kBegin - kEnd) +
         " bytes left out] " + text.substr(text.size() - kEnd);
}

}  // namespace

std::string one_line(const std::string& text) { return reports::visible(shortened(text)); }

}  // namespace ringcheck::cli
