// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/text.h"

#include <charconv>

namespace ringcheck::parity {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += (c == '[') - (c == ']');
    if (c == separator && depth == 0) parts.emplace_back();
    else parts.back() += c;
  }
  return parts;
}

Call parse_call(const std::string& text) {
  const size_t open = text.find('[');
  if (open == std::string::npos) {
    if (text.find(']') != std::string::npos) throw BadCase("'" + text + "': ']' without '['");
    return {text, {}};
  }
  if (text.back() != ']') throw BadCase("'" + text + "': '[' without ']' at the end");
  const std::string inside = text.substr(open + 1, text.size() - open - 2);
  return {text.substr(0, open), inside.empty() ? std::vector<std::string>{} : split(inside, ',')};
}

double parse_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw BadCase("'" + text + "' is not a number; want one such as 0.25 or 1e-3");
  return value;
}

std::string number_text(double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
}

int64_t parse_size(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(end, text.data() + text.size());
  const int64_t factor = unit.empty() ? 1 : unit == "K" ? 1 << 10 : unit == "M" ? 1 << 20 : 0;
  const int64_t most = factor == 0 ? 0 : (int64_t{1} << 40) / factor;
  if (error != std::errc() || factor == 0 || value > most || value < -most)
    throw BadCase("'" + text + "' is not a size; want a whole number to 2^40 (1099511627776), with K or M "
                  "for 1024 or 1048576");
  return value * factor;
}

}  // namespace ringcheck::parity
