// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/history/moment.h"

#include <ctime>
#include <regex>

namespace ringcheck::reports {

// What becomes of it by way of seconds is it again: the 30th of February becomes one of March.
bool is_moment(const std::string& text) {
  std::tm time{};
  const char* const rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time);
  if (rest == nullptr || *rest != '\0') return false;
  const std::time_t seconds = ::timegm(&time);
  char again[64];
  const size_t length = ::gmtime_r(&seconds, &time) == nullptr
                            ? 0
                            : std::strftime(again, sizeof again, "%Y-%m-%dT%H:%M:%SZ", &time);
  return std::string(again, length) == text;
}

bool begins_moment(const std::string& text) {
  static const std::regex beginning("[0-9]{4}(-[0-9]{2}(-[0-9]{2}(T[0-9]{2}(:[0-9]{2}(:[0-9]{2}Z?)?)?)?)?)?");
  return std::regex_match(text, beginning) && is_moment(text + std::string("2000-01-01T00:00:00Z").substr(text.size()));
}

}  // namespace ringcheck::reports
