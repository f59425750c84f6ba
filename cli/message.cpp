// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/message.h"

#include <cstdio>

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

std::string code_of(char byte) {
  char code[8];
  std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned char>(byte));
  return code;
}

}  // namespace

std::string one_line(const std::string& text) {
  const std::string whole = shortened(text);
  std::string line;
  for (size_t at = 0; at < whole.size();) {
    const size_t length = reports::utf8_length(whole, at), end = at + (length == 0 ? 1 : length);
    if (length > 0 && !reports::is_control(whole, at)) {
      line += whole.substr(at, length);
      at = end;
    }
    for (; at < end; ++at) line += code_of(whole[at]);
  }
  return line;
}

}  // namespace ringcheck::cli
