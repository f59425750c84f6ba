// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/cell.h"

#include <algorithm>

namespace ringcheck::parity {
namespace {

bool any_of(const std::vector<std::string>& list, const std::string& value) {
  return std::ranges::find(list, value) != list.end();
}

bool any_says(const std::vector<std::string>& findings, const std::string& word) {
  return std::ranges::any_of(
      findings, [&](const std::string& f) { return f.find(word) != std::string::npos; });
}

// Of what depends on each other, the first that is wrong: rotated q and k, then O and LSE, then
// the gradients.
std::vector<std::string> first_wrong(const std::vector<std::string>& tensors) {
  for (const std::vector<std::string>& stage :
       {std::vector<std::string>{"q", "k"}, {"o", "lse"}, {"dq", "dk", "dv"}}) {
    std::vector<std::string> wrong;
    for (const std::string& name : stage)
      if (any_of(tensors, name)) wrong.push_back(name);
    if (!wrong.empty()) return wrong;
  }
  return {};
}

// The seconds until the oracle had judged: the case itself was run first.
double seconds_until(const Verdict& verdict, const OracleVerdict& oracle) {
  double others = 0;
  for (const OracleVerdict& o : verdict.oracles) others += o.seconds;
  return verdict.seconds - others + oracle.seconds;
}

int badness(Status status) {
  if (status == Status::kFail) return 3;
  if (status == Status::kInconclusive) return 2;
  return status == Status::kPass ? 1 : 0;
}

}  // namespace

bool killed(const Verdict& verdict) {
  return verdict.status == Status::kFail || verdict.status == Status::kHang ||
         verdict.status == Status::kCrash;
}

Said said_by(const Verdict& verdict) {
  Said said;
  if (verdict.status == Status::kHang || verdict.status == Status::kCrash)
    said.findings.push_back(verdict.reason);
  for (const OracleVerdict& oracle : verdict.oracles) {
    if (oracle.status != Status::kFail) continue;
    for (const std::string& finding : oracle.findings) said.findings.push_back(finding);
    for (const TensorVerdict& tensor : oracle.tensors)
      if (tensor.status == Status::kFail) said.tensors.push_back(tensor.tensor);
  }
  return said;
}

bool names_tensor(const Named& wanted, const Said& said) {
  if (wanted.tensors.empty()) return true;
  const auto first = first_wrong(said.tensors);
  return !first.empty() && std::ranges::all_of(first, [&](const std::string& tensor) {
    return any_of(wanted.tensors, tensor);
  });
}

bool names_rank(const Named& wanted, const Said& said) {
  return wanted.rank < 0 || any_says(said.findings, "rank " + std::to_string(wanted.rank));
}

bool localises(const Named& wanted, const Said& said) {
  return names_tensor(wanted, said) && names_rank(wanted, said) && std::ranges::all_of(
      wanted.words, [&](const std::string& word) { return any_says(said.findings, word); });
}

void saw(Cell& cell, const std::string& who, double seconds, const std::string& finding) {
  if (cell.result == Cell::Result::kKilled && 1000 * seconds >= cell.milliseconds) return;
  cell.result = Cell::Result::kKilled;
  cell.killer = who;
  cell.milliseconds = 1000 * seconds;
  cell.finding = finding;
}

void enter(const Verdict& verdict, Cell& cell) {
  if (verdict.status == Status::kHang || verdict.status == Status::kCrash) {
    const char* who = verdict.status == Status::kHang ? "deadline" : "crash";
    cell.seen_by[who] = Status::kFail;
    saw(cell, who, verdict.seconds, verdict.reason);
  }
  for (const OracleVerdict& oracle : verdict.oracles) {
    Status& status = cell.seen_by.try_emplace(oracle.name, oracle.status).first->second;
    if (badness(oracle.status) > badness(status)) status = oracle.status;
    if (oracle.status == Status::kFail)
      saw(cell, oracle.name, seconds_until(verdict, oracle),
          oracle.findings.empty() ? "" : oracle.findings.front());
  }
}

std::string to_text(Cell::Result result) {
  switch (result) {
    case Cell::Result::kKilled: return "killed";
    case Cell::Result::kSurvived: return "survived";
    case Cell::Result::kEquivalent: return "equivalent";
    case Cell::Result::kNotApplicable: return "not_applicable";
  }
  return "unknown";
}

Score score_of(const std::vector<Cell>& cells) {
  Score score;
  for (const Cell& cell : cells) {
    score.killed += cell.result == Cell::Result::kKilled;
    score.survived += cell.result == Cell::Result::kSurvived;
    score.equivalent += cell.result == Cell::Result::kEquivalent;
    score.localised += cell.result == Cell::Result::kKilled && cell.localised;
  }
  return score;
}

std::vector<std::string> survivors_of_judging(const std::vector<Cell>& cells) {
  std::vector<std::string> names;
  for (const Cell& cell : cells)
    if (cell.result == Cell::Result::kSurvived && Faults::at(cell.fault).judging)
      names.push_back(cell.fault + " in " + dtype_text(cell.dtype));
  return names;
}

}  // namespace ringcheck::parity
