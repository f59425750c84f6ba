// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "dashboard_texts.h"
#include "reports/dashboard/dashboard.h"

namespace ringcheck::reports {
namespace {

// Within <script>: < stands in texts alone, where it may be written so.
std::string embeddable(const nlohmann::json& data) {
  const std::string text = data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text)
    if (c == '<') safe += "\\u003c";
    else safe += c;
  return safe;
}

std::string scripts() {
  std::string all;
  for (const auto& [name, text] : dashboard_texts())
    if (name.ends_with(".js") && name != "d3.min.js" && name != "main.js") all += text;
  return "\"use strict\";\n(() => {\n" + all + dashboard_texts().at("main.js") + "})();\n";
}

void put(std::string& page, const std::string& mark, const std::string& text) {
  const size_t at = page.find(mark);
  if (at == std::string::npos) throw std::logic_error("index.html has no " + mark);
  page.replace(at, mark.size(), text);
}

}  // namespace

std::string dashboard_page(const nlohmann::json& data) {
  const auto& texts = dashboard_texts();
  std::string page = texts.at("index.html");
  put(page, "{{style}}", texts.at("style.css"));
  put(page, "{{licence}}", texts.at("copyright"));
  put(page, "{{d3}}", texts.at("d3.min.js"));
  put(page, "{{scripts}}", scripts());
  put(page, "{{data}}", embeddable(data));  // last: a mark in a text of a result is no mark
  return page;
}

}  // namespace ringcheck::reports
