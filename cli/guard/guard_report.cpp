// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/guard/guard_report.h"

#include <c10/util/StringUtil.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <ranges>

#include "cli/environment.h"
#include "cli/guard/unseen.h"
#include "cli/screen.h"
#include "parity/judge/comparison.h"
#include "reports/screen/table.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

using parity::LawVerdict;
using parity::Status;
using reports::Figure, reports::Tone;

constexpr const char* kIsolated =
    "each file keeps the laws alone: no query of one rank is seen to attend to a key of another. "
    "Right where documents end with the ranks' tokens; then judge each file by itself, without "
    "metadata rank and world. Otherwise context parallelism is off";

std::string dtypes_text(const Guarded& all) {
  return c10::Join(", ", std::views::transform(all.dtypes, parity::dtype_text));
}

std::string place_of(const LawVerdict& law) {
  if (law.status == Status::kNotApplicable) return "";
  return "batch " + std::to_string(law.batch) + " kv head " + std::to_string(law.kv_head) +
         (law.channel < 0 ? "" : " channel " + std::to_string(law.channel));
}

// Why a law is neither kept nor broken; empty: it is.
std::string reason_of(const LawVerdict& law) {
  if (law.status == Status::kNotApplicable) return "skipped: q and k are not rotated";
  if (law.status == Status::kInconclusive) return "shows nothing: a plainly wrong result would pass";
  return "";
}

reports::Table::Entry word_of(Status status) {
  if (status == Status::kPass) return {"PASS", Tone::kGood};
  if (status == Status::kFail) return {"FAIL", Tone::kBad};
  return {status == Status::kNotApplicable ? "-" : "OPEN", Tone::kOpen};
}

std::string headline(const Guarded& all) {
  const std::string of = c10::str(all.sums.queries, " queries and ", all.sums.keys, " keys of each of ",
                                  all.sums.dv.size(0), " x ", all.sums.dv.size(1),
                                  " (batch, kv head); ", dtypes_text(all));
  if (all.status == Status::kPass) return "every law that applies holds: " + of;
  return (all.status == Status::kFail ? "what is wrong stands below: " : "no law is broken, and not all is seen: ") + of;
}

// A word, and what belongs to it, in lines that fit.
void say(const reports::Table::Entry& word, const std::string& text, std::ostream& screen) {
  screen << paint_on(screen)(word.tone, word.text) << "  " << reports::wrapped(text, 6, word.text.size() + 2)
         << "\n";
}

void print_laws(const Guarded& all, std::ostream& screen) {
  reports::Table table({"", "law", "where", "worst z", "seen"}, 3);
  for (const LawVerdict& law : all.laws) {
    const bool judged = law.status != Status::kNotApplicable;
    table.add({word_of(law.status), law.law + " " + law.says, place_of(law),
               judged ? reports::figure(law.z) : "-",
               judged ? c10::str(law.counted, "/", law.heads) : "-"},
              reason_of(law));
  }
  screen << table.text(paint_on(screen)) << "  worst z  largest difference over what rounding explains: above "
         << parity::kStat << " fails\n"
         << "  seen     (batch, kv head) in which a plainly wrong result would fail\n";
}

nlohmann::json to_json(const Guarded& all, size_t index) {
  const LawVerdict& law = all.laws[index];
  nlohmann::json json{{"law", law.law},
                      {"says", law.says},
                      {"verdict", to_text(law.status)},
                      {"z", Figure(law.z)},
                      {"difference", Figure(law.difference)},
                      {"sigma", Figure(law.sigma)},
                      {"batch", law.batch},
                      {"kv_head", law.kv_head},
                      {"channel", law.channel},
                      {"power", Figure(law.power)},
                      {"counted", law.counted},
                      {"heads", law.heads}};
  if (const auto& shares = all.shares[index]; !shares.empty()) {
    const auto most = std::ranges::max_element(shares) - shares.begin();
    json["shares"] = std::vector<Figure>(shares.begin(), shares.end());
    json["most"] = {{"file", all.files[most]}, {"rank", all.ranks[most]}};
  }
  return json;
}

reports::CaseResult case_of(const Guarded& all, const std::string& name, Status status,
                            const std::string& command) {
  reports::CaseResult test;
  test.name = name;
  test.group = "guard";
  test.verdict = status == Status::kNotApplicable ? reports::Status::kSkipped
                                                  : reports::parse_status(to_text(status));
  test.reproduce = command;
  test.parts = {{"dtypes", dtypes_text(all)}};
  return test;
}

reports::CaseResult case_of(const Guarded& all, const LawVerdict& law, const std::string& command) {
  reports::CaseResult test = case_of(all, law.law + " " + law.says, law.status, command);
  test.parts["worst_z"] = reports::figure(law.z);
  if (law.status == Status::kPass) return test;
  test.reason = law.status == Status::kFail ? law.text() : reason_of(law);
  if (law.status != Status::kFail) return test;
  for (const std::string& finding : all.findings)
    if (finding.starts_with(law.law)) test.findings.push_back(finding);
  for (const parity::Fit& fit : all.fits) test.findings.push_back("would fit: " + fit.says);
  return test;
}

// What is wrong, or shows nothing, beside the laws.
reports::CaseResult of_values(const Guarded& all, const std::string& command) {
  const auto of_a_law = [&](const std::string& finding) {
    return std::ranges::any_of(all.laws, [&](const auto& law) {
      return law.status == Status::kFail && finding.starts_with(law.law + " ");
    });
  };
  std::vector<std::string> others;
  std::ranges::remove_copy_if(all.findings, std::back_inserter(others), of_a_law);
  reports::CaseResult test = case_of(all, "values", others.empty() ? Status::kPass : Status::kFail, command);
  test.findings = others;
  if (!others.empty()) test.reason = others.front();
  return test;
}

}  // namespace

void print(const Guarded& all, std::ostream& screen) {
  say(word_of(all.status), headline(all), screen);
  screen << "\n";
  print_laws(all, screen);
  for (const std::string& finding : all.findings) {
    screen << "\n";
    say(word_of(Status::kFail), finding, screen);
  }
  for (const parity::Fit& fit : all.fits)
    screen << "\n      " << reports::wrapped("would fit: " + fit.says, 6, 6) << "\n";
  if (all.isolated) {
    screen << "\n";
    say(word_of(Status::kInconclusive), kIsolated, screen);
  }
  if (all.findings.empty()) {
    screen << "\n  not seen, right or wrong:\n";
    for (const Unseen& one : unseen(all))
      screen << "  " << reports::left(one.what, 6) << " " << reports::wrapped(one.says, 9, 9) << "\n";
  }
  screen << std::flush;
}

nlohmann::json to_json(const Guarded& all, const GuardQuestion& question) {
  nlohmann::json laws = nlohmann::json::array(), fits = laws, blind = laws;
  for (size_t law = 0; law < all.laws.size(); ++law) laws.push_back(to_json(all, law));
  for (const parity::Fit& fit : all.fits) {
    fits.push_back({{"mistake", fit.mistake}, {"says", fit.says}});
    if (fit.factor) fits.back()["factor"] = Figure(*fit.factor);
  }
  for (const Unseen& one : unseen(all)) blind.push_back({{"what", one.what}, {"says", one.says}});
  nlohmann::json json{{"verdict", to_text(all.status)},
                      {"files", all.files},
                      {"ranks", all.ranks},
                      {"dtypes", dtypes_text(all)},
                      {"queries", all.sums.queries},
                      {"keys", all.sums.keys},
                      {"scale", all.how.scale},
                      {"rotated", all.how.rotated},
                      {"lse", all.has_lse},
                      {"isolated", all.isolated},
                      {"laws", laws},
                      {"findings", all.findings},
                      {"would_fit", fits},
                      {"unseen", blind}};
  if (!question.accumulation.empty()) json["accumulation"] = question.accumulation;
  return json;
}

reports::Result cases_of(const Guarded& all, const std::string& command) {
  reports::Result result;
  result.kind = reports::Kind::kGuard;
  result.environment = environment();
  result.environment.command = command;
  for (const LawVerdict& law : all.laws) result.cases.push_back(case_of(all, law, command));
  result.cases.push_back(of_values(all, command));
  if (all.parts.size() > 1) {
    reports::CaseResult test = case_of(
        all, "ranks attend to each other", all.isolated ? Status::kInconclusive : Status::kPass, command);
    if (all.isolated) test.reason = kIsolated;
    result.cases.push_back(std::move(test));
  }
  return result;
}

}  // namespace ringcheck::cli
