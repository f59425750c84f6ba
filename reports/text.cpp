// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace ringcheck::reports {
namespace {

std::string printed(const char* format, int precision, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, precision, value);
  return text;
}

std::string code_of(char byte) {
  char code[8];
  std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned char>(byte));
  return code;
}

}  // namespace

size_t utf8_length(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xF0 && lead < 0xF5 ? 4
                                                      : 0;
  if (length == 0 || at + length > text.size())
    return 0;
  for (size_t i = at + 1; i < at + length; ++i)
    if ((byte(i) & 0xC0) != 0x80)
      return 0;
  if (lead == 0xE0 && byte(at + 1) < 0xA0)
    return 0;
  if (lead == 0xED && byte(at + 1) > 0x9F)
    return 0;
  if (lead == 0xF0 && byte(at + 1) < 0x90)
    return 0;
  if (lead == 0xF4 && byte(at + 1) > 0x8F)
    return 0;
  if (lead == 0xEF && byte(at + 1) == 0xBF && byte(at + 2) >= 0xBE)
    return 0;  // U+FFFE, U+FFFF
  return length;
}

bool is_control(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(at) < 0x20 || byte(at) == 0x7f || (byte(at) == 0xC2 && byte(at + 1) < 0xA0)) return true;
  if (byte(at) == 0xD8) return byte(at + 1) == 0x9C;
  if (byte(at) != 0xE2) return false;
  const unsigned char second = byte(at + 1), third = byte(at + 2);
  return (second == 0x80 && ((third >= 0x8B && third <= 0x8F) || (third >= 0xA8 && third <= 0xAE))) ||
         (second == 0x81 && third >= 0xA6 && third <= 0xA9);
}

std::string visible(const std::string& text) {
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text, at), end = at + std::max<size_t>(length, 1);
    if (length > 0 && !is_control(text, at)) {
      line += text.substr(at, length);
      at = end;
    }
    for (; at < end; ++at) line += code_of(text[at]);
  }
  return line;
}

std::string fixed(double value, int decimals) { return printed("%.*f", decimals, value); }

std::string figure(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  const double size = std::abs(value);
  if (size == 0)
    return "0";
  if (size >= 99999 || size < 0.00095)
    return printed("%.*e", 1, value);
  return fixed(value, size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

std::string short_figure(double value) {
  if (!std::isfinite(value) || value == 0)
    return figure(value);
  if (std::abs(value) < 0.001)
    return "<0.001";
  return std::abs(value) < 9999.5 ? figure(value) : printed("%.*e", 0, value);
}

std::string left(const std::string& text, size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

std::string right(const std::string& text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string seconds_text(double seconds) {
  if (seconds < 90)
    return fixed(seconds, seconds < 10 ? 2 : 1) + " s";
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
}

std::string wrapped(const std::string& text, size_t indent, size_t taken, size_t columns) {
  std::istringstream words(text);
  std::string out;
  size_t at = taken;
  for (std::string word; words >> word; at += word.size()) {
    word = visible(word);
    if (!out.empty() && at + 1 + word.size() > columns) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (!out.empty()) {
      out += ' ';
      ++at;
    }
    out += word;
  }
  return out;
}

std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string xml_escaped(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text, at);
    const char c = text[at];
    if (length == 0 ||
        (length == 1 && static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t'))
      out += '?';
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&apos;";
    else
      out += text.substr(at, length);
    at += length == 0 ? 1 : length;
  }
  return out;
}

std::string headline(const CaseResult& test) {
  if (test.verdict == Status::kPass)
    return "";
  if (!test.reason.empty())
    return test.reason;
  std::string names;
  for (const OracleResult& oracle : test.oracles)
    if (oracle.verdict == Status::kFail)
      names += (names.empty() ? "" : ", ") + oracle.name;
  return names.empty() ? to_text(test.verdict) : "rejected by " + names;
}

std::vector<std::string> findings_of(const CaseResult& test) {
  std::vector<std::string> lines = test.explained;
  lines.insert(lines.end(), test.findings.begin(), test.findings.end());
  std::vector<OracleResult> oracles = test.oracles;
  std::ranges::stable_partition(oracles, [](const OracleResult& o) { return !o.contract; });
  for (const OracleResult& oracle : oracles) {
    if (oracle.verdict != Status::kFail && oracle.verdict != Status::kInconclusive)
      continue;
    for (const std::string& finding : oracle.findings)
      lines.push_back(oracle.name + ": " + finding);
    if (!oracle.findings.empty())
      continue;
    for (const TensorResult& tensor : oracle.tensors)
      if (tensor.verdict == oracle.verdict)
        lines.push_back(oracle.name + ": " + tensor.tensor + ": largest error " +
                        figure(tensor.hard_ratio) + " times its bound and " +
                        figure(tensor.max_z) + " standard deviations; " + figure(100 * tensor.vacuity) +
                        " % of it could be zero unseen" + (tensor.worst.empty() ? "" : ", " + tensor.worst));
  }
  return lines;
}

std::string failed_again(int times, int of_runs) {
  return "fails in " + std::to_string(times) + " of " + std::to_string(of_runs) +
         " further runs" + (times == of_runs ? "" : ": not the same every time");
}

}  // namespace ringcheck::reports
