// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/faults/kill_matrix.h"

#include <algorithm>
#include <mutex>
#include <tuple>

#include "cp/device/cuda_library.h"
#include "cp/device/moment.h"
#include "parity/case/data_family.h"
#include "parity/faults/fault_effect.h"
#include "parity/faults/peer_review.h"
#include "parity/judge/runner.h"
#include "parity/faults/self_test/self_test.h"

namespace ringcheck::parity {
namespace {

RunOptions options_of(const Fault& fault, std::vector<std::string> oracles,
                      const SharedSubject& subject) {
  RunOptions options;
  options.deadline = deadline_of(fault);
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

// What the oracles find wrong with a case that nothing was planted in. Where it is there for further runs,
// `parity` of one may show too little.
std::vector<std::string> complaints(const Case& test, const std::vector<std::string>& oracles,
                                    const Fault& fault) {
  std::vector<std::string> list;
  const Verdict verdict = verify(test, options_of({}, oracles, fault.control));
  for (const OracleVerdict& oracle : verdict.oracles)
    if (oracle.status == Status::kFail ||
        (oracle.status == Status::kInconclusive && (fault.proves.empty() || oracle.name != "parity")))
      list.push_back(oracle.name + " (" + to_text(oracle.status) + "): " +
                     (oracle.findings.empty() ? "" : oracle.findings.front()));
  if (killed(verdict) && list.empty()) list.push_back(verdict.reason);
  return list;
}

// The same of a fault's control. Asked once a case; of races, where chance rules, once a fault.
std::vector<std::string> unclean(const Case& test, const std::vector<std::string>& oracles,
                                 const Fault& fault) {
  if (fault.races) return complaints(test, oracles, fault);
  static std::mutex mutex;
  static std::map<std::tuple<std::string, std::vector<std::string>, bool>, std::vector<std::string>> known;
  const std::lock_guard lock(mutex);
  auto [entry, is_new] = known.try_emplace({to_text(test), oracles, fault.proves.empty()});
  if (is_new) entry->second = complaints(test, oracles, fault);
  return entry->second;
}

// One case of a fault, judged by some of the oracles.
void hunt_in(const Case& test, const Fault& fault, const std::vector<std::string>& oracles,
             Cell& cell) {
  if (oracles.empty()) return;
  for (const std::string& what : unclean(test, oracles, fault))
    cell.unclean.push_back(to_text(test) + ": " + what);
  const Verdict verdict = verify(test, options_of(fault, oracles, fault.subject));
  enter(verdict, cell);
  if (killed(verdict) && localises(fault.names, said_by(verdict))) cell.localised = true;
}

void ask_peers(const Case& test, const Fault& fault, Cell& cell) {
  for (const auto& [name, here] : peer_review(fault, test)) {
    Status& whole = cell.peers.try_emplace(name, here).first->second;
    if (here == Status::kFail || whole == Status::kNotApplicable) whole = here;
  }
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

// Why the kernel does not take a case.
std::optional<std::string> refused(const Hunt& hunt, Case test) {
  test.kernel = hunt.kernel;
  test.device = hunt.device;
  return not_supported(test);
}

// The cases of a fault that the kernel takes; with dim_v = dim where it wants them equal. None where it
// cannot show.
std::vector<Case> cases_for(const Hunt& hunt, const Fault& fault, Cell& cell) {
  std::vector<Case> taken;
  if (!fault.needs.empty())
    if (const auto reason = refused(hunt, parse_case(fault.needs + "/" + dtype_text(cell.dtype)))) {
      cell.reason = *reason;
      return taken;
    }
  for (Case test : cases_of(fault, cell.dtype)) {
    const auto reason = refused(hunt, test);
    if (reason) test.dim_v = test.dim;
    if (reason && refused(hunt, test)) {
      cell.reason = *reason;
      continue;
    }
    test.kernel = hunt.kernel;
    test.device = hunt.device;
    taken.push_back(test);
  }
  return taken;
}

// The cases again with data of which the answer is known, judged by those oracles that had nothing
// to say of the cases as they are. A fault that hangs does so on any data.
void hunt_in_exact_data(const std::vector<Case>& cases, const Fault& fault, Cell& cell) {
  std::vector<std::string> silent;
  for (const auto& [oracle, status] : cell.seen_by)
    if (status == Status::kNotApplicable) silent.push_back(oracle);
  if (fault.hangs) return;
  for (Case test : cases)
    for (const char* data : {"census", "routing", "snap", "equal-keys", "ones"}) {
      test.data = data;
      if (!DataFamilies::at(data).refuses(test)) hunt_in(test, fault, silent, cell);
    }
}

// The oracle that a fault is there for, where it may be asked.
std::vector<std::string> meant_for(const Fault& fault, const Hunt& hunt) {
  if (std::ranges::find(hunt.oracles, fault.proves) == hunt.oracles.end()) return {};
  return {fault.proves};
}

// What nobody saw: is there anything to see?
void acquit(const Fault& fault, const std::vector<Case>& cases, Cell& cell) {
  cell.reason = "no oracle that was asked sees it";
  const bool moot = !fault.moot_with.empty() && std::ranges::all_of(cases, [&](const Case& test) {
    return changes_no_bit(fault, test);
  });
  if (fault.equivalent.empty() && !moot) return;
  cell.result = Cell::Result::kEquivalent;
  cell.reason = moot ? "changes no bit with " + fault.moot_with : fault.equivalent;
}

}  // namespace

std::string cannot_show(const Fault& fault, at::ScalarType dtype, const Hunt& hunt) {
  if (std::ranges::find(fault.dtypes, dtype) == fault.dtypes.end())
    return "cannot show in this dtype";
  if (fault.races && hunt.device == "cpu")
    return "a race between streams of a GPU; on the CPU work is done when its call returns";
  if (fault.several_gpus &&
      (hunt.device == "cpu" || why_no_cuda() || device_count(at::kCUDA) < 2))
    return "shows where ranks compute on different GPUs";
  if (fault.on_cpus && hunt.device != "cpu")
    return "shows on CPUs alone: on GPUs autograd goes back on a thread of its own, and an allocator rounds "
           "up by more than a small block";
  return {};
}

Cell hunt(const std::string& name, at::ScalarType dtype, const Hunt& hunt) {
  const Fault& fault = Faults::at(name);
  Cell cell;
  cell.fault = name;
  cell.dtype = dtype;
  cell.reason = cannot_show(fault, dtype, hunt);
  if (!cell.reason.empty()) return cell;
  cell.result = Cell::Result::kSurvived;
  if (fault.judging) hunt_in_judging(fault, hunt.oracles, cell);
  const std::vector<Case> cases = cases_for(hunt, fault, cell);
  for (const Case& test : cases) hunt_in(test, fault, those(hunt.oracles, false), cell);
  hunt_in_exact_data(cases, fault, cell);
  for (const Case& test : cases) hunt_in(test, fault, meant_for(fault, hunt), cell);
  for (const Case& test : cases)
    if (hunt.ask_all || cell.result != Cell::Result::kKilled || !cell.localised)
      hunt_in(test, fault, those(hunt.oracles, true), cell);
  if (!fault.judging)
    for (const Case& test : cases) ask_peers(test, fault, cell);
  if (!fault.judging && cases.empty()) cell.result = Cell::Result::kNotApplicable;
  if (cell.result == Cell::Result::kSurvived) acquit(fault, cases, cell);
  return cell;
}

}  // namespace ringcheck::parity
