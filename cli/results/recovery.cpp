// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/results/recovery.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/envelope.h"
#include "reports/file.h"
#include "reports/journal.h"
#include "reports/formats/junit.h"

namespace ringcheck::cli {
namespace {

void blame(reports::CaseResult& test, const Death& death, const std::string& when) {
  test.verdict = death.verdict;
  test.reason = when + death.reason;
  test.findings = death.findings;
}

}  // namespace

reports::Result recovered(const std::string& journal, const Death& death) {
  reports::Journaled known = reports::read_journal(journal);
  std::vector<reports::CaseResult>& cases = known.result.cases;
  const auto next = static_cast<size_t>(std::ranges::find(known.ended, false) - known.ended.begin());
  for (size_t i = 0; i < cases.size(); ++i)
    if (!known.ended[i]) cases[i].reason = "the run ended before it: " + death.reason;
  if (known.running)
    blame(cases[*known.running], death, "");
  else if (next < cases.size())
    blame(cases[next], death, "before it began, ");
  else if (!cases.empty() && death.verdict != reports::Status::kSkipped)
    blame(cases.back(), death, "after this last case, ");
  known.result.summary = reports::summary_of(cases);
  return std::move(known.result);
}

void write_recovered(const reports::Result& result, const std::string& json,
                     const std::string& junit) {
  if (!json.empty()) reports::write_json(json, reports::to_json(result));
  if (!junit.empty()) reports::write_file(junit, reports::junit(result));
}

}  // namespace ringcheck::cli
