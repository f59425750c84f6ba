// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// OpenMetrics text: gauges, each at the time when the run started.
#include <cmath>
#include <ctime>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/formats/format.h"
#include "reports/formats/series.h"
#include "reports/formats/worst.h"
#include "reports/formats/verdict.h"

namespace ringcheck::reports {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

// Seconds since 1970; empty where it is no time.
std::string seconds_since_1970(const std::string& utc) {
  std::tm time{};
  std::istringstream text(utc);
  text >> std::get_time(&time, "%Y-%m-%dT%H:%M:%SZ");
  return text.fail() ? "" : std::to_string(timegm(&time));
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return nlohmann::json(value).dump();
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : nlohmann::json::parse(nlohmann::json(text).dump(
           -1, ' ', false, nlohmann::json::error_handler_t::replace)).get<std::string>()) {
    if (c == '\n') out += "\\n";
    else if (c == '\\' || c == '"') out += {'\\', c};
    else out += c;
  }
  return out;
}

// Names may not begin with a digit, nor come twice.
std::string text_of(const Labels& labels) {
  std::map<std::string, std::string> named;
  for (const auto& [label, value] : labels) {
    std::string name = slug(label, '_');
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name = "_" + name;
    while (named.contains(name)) name += "_";
    named[name] = value;
  }
  std::string text;
  for (const auto& [name, value] : named)
    text += (text.empty() ? "" : ",") + name + "=\"" + escaped(value) + "\"";
  return text.empty() ? "" : "{" + text + "}";
}

// The samples of one name must stand together.
class Families {
 public:
  explicit Families(const Environment& at) : time_(seconds_since_1970(at.started)) {}

  void add(const std::string& name, const std::string& help, const Labels& labels, double value) {
    Family& family = families_[name];
    family.help = help;
    family.samples += name + text_of(labels) + " " + number(value) + (time_.empty() ? "" : " " + time_) + "\n";
  }
  std::string text() const {
    std::string text;
    for (const auto& [name, family] : families_)
      text += "# TYPE " + name + " gauge\n# HELP " + name + " " + escaped(family.help) + "\n" + family.samples;
    return text + "# EOF\n";
  }

 private:
  struct Family {
    std::string help, samples;
  };
  std::string time_;
  std::map<std::string, Family> families_;
};

// Base units in words: "seconds", "bytes_per_second".
std::string unit_word(const std::string& unit) {
  static const std::map<std::string, std::string> kWords{{"s", "seconds"}, {"B", "bytes"}};
  const auto word = [](const std::string& one) {
    const auto known = kWords.find(one);
    return known == kWords.end() ? slug(one, '_') : known->second;
  };
  if (unit.ends_with("/s")) return word(unit.substr(0, unit.size() - 2)) + "_per_second";
  return word(unit);
}

std::string metric_name(const Measurement& one) {
  std::string name = "ringcheck_" + (one.name == one.unit ? "rate" : slug(one.name, '_'));
  const std::string unit = unit_word(one.unit);
  return unit.empty() || name.ends_with("_" + unit) ? name : name + "_" + unit;
}

void add_cases(Families& all, const Result& result) {
  for (const auto& [verdict, count] : counts_of(result))
    all.add("ringcheck_cases", "Cases by verdict.", {{"verdict", verdict}}, static_cast<double>(count));
  const Judged judged = judged_in(result.cases);
  all.add("ringcheck_tensors", "Tensors of ranks that hold tokens.", {}, static_cast<double>(judged.all));
  all.add("ringcheck_tensors_judged_by_nobody", "Those of them that no oracle judged.", {},
          static_cast<double>(judged.nobody));
  for (const auto& [of, worst] : worst_of(result)) {
    const Labels labels{{"oracle", of.first}, {"tensor", of.second}};
    all.add("ringcheck_error_ratio", "Largest error over its bound; above 1.001 fails.", labels, worst.error);
    all.add("ringcheck_error_sigmas", "Largest error in standard deviations; above 8 fails.", labels,
            worst.sigmas);
    all.add("ringcheck_blind_ratio", "Largest share that could be zero unnoticed; below 0.02.", labels,
            worst.blind);
  }
}

void add_measured(Families& all, const Result& result) {
  for (const Measurement& one : result.measurements) {
    const Sampled of = sampled(one);
    if (of.samples.empty()) continue;
    const std::map<std::string, double> statistics{
        {"median", of.median}, {"least", of.least}, {"most", of.most}};
    for (const auto& [statistic, value] : statistics) {
      Labels labels{{"measurement", one.name}, {"statistic", statistic}};
      labels.insert(labels.end(), one.parts.begin(), one.parts.end());
      all.add(metric_name(one), "Measured by " + to_text(result.kind) + ".", labels, value);
    }
  }
}

}  // namespace

std::string openmetrics(const Result& result) {
  const Environment& at = result.environment;
  Families all(at);
  all.add("ringcheck_run", "What ran where; the value is 1.",
          {{"kind", to_text(result.kind)}, {"version", at.version}, {"commit", at.commit},
           {"host", at.host}, {"device", at.device}, {"launcher", at.launcher}}, 1);
  all.add("ringcheck_exit_code", "0: everything passed.", {}, exit_code_of(result));
  all.add("ringcheck_wall_seconds", "Of the whole run.", {}, at.wall_seconds);
  if (has_cases(result.kind)) add_cases(all, result);
  add_measured(all, result);
  return all.text();
}

}  // namespace ringcheck::reports
