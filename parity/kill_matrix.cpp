// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/kill_matrix.h"

#include <algorithm>
#include <mutex>

#include "cp/error.h"
#include "parity/self_test.h"

namespace ringcheck::parity {
namespace {

// A fault that hangs costs this much a run; the others must not be mistaken for one.
constexpr std::chrono::milliseconds kShort{300}, kLong{20000};

RunOptions options_of(const Fault& fault, std::vector<std::string> oracles,
                      const Subject& subject) {
  RunOptions options;
  options.deadline = fault.hangs ? kShort : kLong;
  options.subject = subject;
  options.judging.oracles = std::move(oracles);
  return options;
}

std::vector<std::string> those(const std::vector<std::string>& names, bool with_further_runs) {
  std::vector<std::string> list = names;
  std::erase_if(list, [&](const std::string& name) {
    return (Oracles::at(name).variations != nullptr) != with_further_runs;
  });
  return list;
}

bool killed(const Verdict& verdict) {
  return verdict.status == Status::kFail || verdict.status == Status::kHang ||
         verdict.status == Status::kCrash;
}

// Everything that a verdict says is wrong.
struct Said {
  std::vector<std::string> findings, tensors;
};

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

bool localises(const Named& wanted, const Said& said) {
  if (!wanted.tensors.empty()) {
    const auto first = first_wrong(said.tensors);
    for (const std::string& tensor : first)
      if (!any_of(wanted.tensors, tensor)) return false;
    if (first.empty()) return false;
  }
  if (wanted.rank >= 0 && !any_says(said.findings, "rank " + std::to_string(wanted.rank)))
    return false;
  return std::ranges::all_of(
      wanted.words, [&](const std::string& word) { return any_says(said.findings, word); });
}

// The seconds until the oracle had judged: the case itself was run first.
double seconds_until(const Verdict& verdict, const OracleVerdict& oracle) {
  double others = 0;
  for (const OracleVerdict& o : verdict.oracles) others += o.seconds;
  return verdict.seconds - others + oracle.seconds;
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
    if (status != Status::kFail) status = oracle.status;
    if (oracle.status == Status::kFail)
      saw(cell, oracle.name, seconds_until(verdict, oracle),
          oracle.findings.empty() ? "" : oracle.findings.front());
  }
}

// What the oracles find wrong with a case that nothing was planted in. Asked once a case.
const std::vector<std::string>& unclean(const Case& test, const std::vector<std::string>& oracles) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::vector<std::string>>, std::vector<std::string>> known;
  const std::lock_guard lock(mutex);
  auto [entry, is_new] = known.try_emplace({to_text(test), oracles});
  if (!is_new) return entry->second;
  const Verdict verdict = verify(test, options_of({}, oracles, context_parallel));
  for (const OracleVerdict& oracle : verdict.oracles)
    if (oracle.status == Status::kFail || oracle.status == Status::kInconclusive)
      entry->second.push_back(oracle.name + " (" + to_text(oracle.status) + "): " +
                              (oracle.findings.empty() ? "" : oracle.findings.front()));
  if (killed(verdict) && entry->second.empty()) entry->second.push_back(verdict.reason);
  return entry->second;
}

// One case of a fault, judged by some of the oracles.
void hunt_in(const Case& test, const Fault& fault, const std::vector<std::string>& oracles,
             Cell& cell) {
  if (oracles.empty()) return;
  for (const std::string& what : unclean(test, oracles))
    cell.unclean.push_back(to_text(test) + ": " + what);
  const Verdict verdict = verify(test, options_of(fault, oracles, fault.subject));
  enter(verdict, cell);
  if (killed(verdict) && localises(fault.names, said_by(verdict))) cell.localised = true;
}

void hunt_in_judging(const Fault& fault, const std::vector<std::string>& oracles, Cell& cell) {
  const auto begin = std::chrono::steady_clock::now();
  const SelfTest test = self_test(cell.dtype, those(oracles, false), fault.judging());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  cell.seen_by["self-test"] = test.failures.empty() ? Status::kPass : Status::kFail;
  if (test.failures.empty()) return;
  saw(cell, "self-test", seconds.count(), test.failures.front());
  cell.localised = localises(fault.names, {test.failures, {}});
}

}  // namespace

std::string to_text(Cell::Result result) {
  switch (result) {
    case Cell::Result::kKilled: return "killed";
    case Cell::Result::kSurvived: return "survived";
    case Cell::Result::kEquivalent: return "equivalent";
    case Cell::Result::kNotApplicable: return "not_applicable";
  }
  return "unknown";
}

Cell hunt(const std::string& name, at::ScalarType dtype, const Hunt& hunt) {
  const Fault& fault = Faults::at(name);
  Cell cell;
  cell.fault = name;
  cell.dtype = dtype;
  if (std::ranges::find(fault.dtypes, dtype) == fault.dtypes.end()) {
    cell.reason = "cannot show in this dtype";
    return cell;
  }
  cell.result = Cell::Result::kSurvived;
  if (fault.judging) hunt_in_judging(fault, hunt.oracles, cell);
  std::vector<Case> cases = cases_of(fault, dtype);
  for (Case& test : cases) {
    test.kernel = hunt.kernel;
    test.device = hunt.device;
    if (const auto reason = not_supported(test)) cell.reason = *reason;
  }
  std::erase_if(cases, [](const Case& test) { return not_supported(test).has_value(); });
  for (const Case& test : cases) hunt_in(test, fault, those(hunt.oracles, false), cell);
  for (const Case& test : cases)
    if (hunt.ask_all || cell.result != Cell::Result::kKilled || !cell.localised)
      hunt_in(test, fault, those(hunt.oracles, true), cell);
  if (!fault.judging && cases.empty()) cell.result = Cell::Result::kNotApplicable;
  if (cell.result != Cell::Result::kSurvived) return cell;
  if (!fault.equivalent.empty()) cell.result = Cell::Result::kEquivalent;
  cell.reason = fault.equivalent.empty() ? "no oracle that was asked sees it" : fault.equivalent;
  return cell;
}

std::optional<Outcome> faulty_outcome(const Fault& fault, const Case& test) {
  try {
    return solve({test}, {.size = test.world, .deadline = fault.hangs ? kShort : kLong,
                          .device = device_type_of(test)}, fault.subject);
  } catch (const RankFailure&) {
    return std::nullopt;
  }
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

}  // namespace ringcheck::parity
