// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/formats/series.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "reports/median.h"

namespace ringcheck::reports {
namespace {

// In which parts measurements differ.
std::set<std::string> telling_parts(const std::vector<Measurement>& all) {
  std::map<std::string, std::set<std::string>> values;
  std::set<std::string> telling;
  for (const Measurement& one : all)
    for (const auto& [name, value] : one.parts) values[name].insert(value);
  for (const auto& [name, found] : values) {
    const bool everywhere = std::ranges::all_of(all, [&](const Measurement& one) {
      return one.parts.contains(name);
    });
    if (found.size() > 1 || !everywhere) telling.insert(name);
  }
  return telling;
}

}  // namespace

std::vector<std::string> subjects_of(const Result& result) {
  const std::set<std::string> telling = telling_parts(result.measurements);
  const auto benchmark_of = [](const Measurement& one) {
    const auto benchmark = one.parts.find("benchmark");
    return benchmark == one.parts.end() ? "" : benchmark->second;
  };
  std::map<std::pair<std::string, std::string>, int> bearers;  // of a benchmark's name and a metric
  for (const Measurement& one : result.measurements) ++bearers[{benchmark_of(one), one.name}];
  std::vector<std::string> subjects;
  for (const Measurement& one : result.measurements) {
    std::string subject = benchmark_of(one);
    if (subject.empty() || bearers[{subject, one.name}] > 1)
      for (const auto& [name, value] : one.parts)
        if (telling.contains(name) && name != "benchmark")
          subject += (subject.empty() ? "" : " ") + name + "=" + value;
    subjects.push_back(subject.empty() ? to_text(result.kind) : subject);
  }
  return subjects;
}

Sampled sampled(const Measurement& series) {
  Sampled all{numbers(series.samples)};
  std::erase_if(all.samples, [](double x) { return !std::isfinite(x); });
  if (all.samples.empty()) return all;
  const auto [least, most] = std::ranges::minmax_element(all.samples);
  all.least = *least;
  all.most = *most;
  all.median = median(all.samples);
  return all;
}

std::string significant(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string slug(const std::string& text, char between) {
  std::string out;
  for (const unsigned char c : text) {
    if (std::isalnum(c) != 0) out += static_cast<char>(std::tolower(c));
    else if (!out.empty() && out.back() != between) out += between;
  }
  while (!out.empty() && out.back() == between) out.pop_back();
  return out;
}

}  // namespace ringcheck::reports
