// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/markdown_words.h"

#include <sstream>

#include "reports/text.h"

namespace ringcheck::reports {
namespace {

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  return visible(text);
}

}  // namespace

std::string cell(const std::string& text) {
  std::string out;
  for (const char c : one_line(text)) {
    if (c == '<') out += "&lt;";
    else if (c == '&') out += "&amp;";
    else if (std::string("\\`*_[]|~").find(c) != std::string::npos) out += {'\\', c};
    else out += c;
  }
  return out;
}

std::string code(const std::string& text) {
  std::string out;
  for (const char c : one_line(text)) {
    if (c == '|') out += "\\|";
    else out += c == '`' ? '\'' : c;
  }
  return "`" + out + "`";
}

std::string code_block(const std::string& text, const std::string& language) {
  std::string fence = "```", lines;
  while (text.find(fence) != std::string::npos) fence += '`';
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines += visible(line) + "\n";
  return fence + language + "\n" + lines + fence + "\n";
}

}  // namespace ringcheck::reports
