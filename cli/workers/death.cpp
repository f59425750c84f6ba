// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/death.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <regex>

#include "cp/error.h"
#include "reports/text.h"

namespace ringcheck::cli {
namespace {

constexpr size_t kRanksShown = 16;

std::string operation_text(const RankStatus& rank) {
  return describe(Operation{rank.operation, rank.step, rank.peer});
}

std::string rank_text(size_t rank, const RankStatus& status) {
  return "rank " + std::to_string(rank) + " in " + operation_text(status);
}

std::vector<std::string> everybody(const Evidence& evidence) {
  std::vector<std::string> lines;
  uint64_t last = 0;
  for (const RankStatus& rank : evidence.ranks)
    last = std::max(last, rank.when);
  for (size_t r = 0; r < evidence.ranks.size(); ++r) {
    const RankStatus& rank = evidence.ranks[r];
    if (rank.state == RankState::kIdle)
      continue;
    if (lines.size() == kRanksShown) {
      lines.push_back("and more ranks");
      break;
    }
    const double behind = static_cast<double>(last - rank.when) * 1e-9;
    lines.push_back(rank_text(r, rank) + (evidence.stopped[r] ? ", its process is stopped" : "") +
                    (behind > 0.0005
                         ? ", " + reports::fixed(behind, 3) + " s before the last sign of life"
                         : ""));
  }
  return lines;
}

// The first rank that said itself why it ends.
std::optional<size_t> confessed(const Evidence& evidence) {
  std::optional<size_t> first;
  for (size_t r = 0; r < evidence.ranks.size(); ++r) {
    const RankStatus& rank = evidence.ranks[r];
    if (rank.state != RankState::kSignaled && rank.state != RankState::kThrew &&
        rank.state != RankState::kTimedOut)
      continue;
    if (!first || rank.when < evidence.ranks[*first].when)
      first = r;
  }
  return first;
}

template <class Better>
size_t best(const Evidence& evidence, const Better& better) {
  size_t found = 0;
  for (size_t r = 1; r < evidence.ranks.size(); ++r)
    if (evidence.ranks[r].state != RankState::kIdle && better(r, found))
      found = r;
  return found;
}

// mpirun tells which rank a signal ended.
struct Told {
  size_t rank;
  std::string how;
};
std::optional<Told> told_by_mpirun(const Evidence& evidence) {
  static const std::regex sentence(
      R"(process rank (\d+) with PID \d+ on node \S+\s+exited on\s+(signal \d+ \([^)]*\)))");
  std::smatch match;
  if (!std::regex_search(evidence.output, match, sentence))
    return std::nullopt;
  const size_t rank = std::stoul(match[1]);
  if (rank >= evidence.ranks.size())
    return std::nullopt;
  return Told{rank, match[2]};
}

// A stopped rank; else one that computes while the others wait for it; else the one that has been
// silent for longest.
size_t hung(const Evidence& evidence) {
  const auto suspicion = [&](size_t r) {
    const RankStatus& rank = evidence.ranks[r];
    return (evidence.stopped[r] ? 2 : 0) + (rank.peer < 0 && rank.state == RankState::kRunning);
  };
  return best(evidence, [&](size_t a, size_t b) {
    if (suspicion(a) != suspicion(b))
      return suspicion(a) > suspicion(b);
    return evidence.ranks[a].when < evidence.ranks[b].when;
  });
}

Death blame(const Evidence& evidence, size_t rank, reports::Status verdict,
            const std::string& how) {
  return {verdict, evidence.ranks[rank].test, rank_text(rank, evidence.ranks[rank]) + ": " + how,
          everybody(evidence)};
}

std::string signal_text(int signal) {
  return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

Death died(const Evidence& evidence) {
  if (const auto rank = confessed(evidence)) {
    const RankStatus& status = evidence.ranks[*rank];
    const bool hang = status.state == RankState::kTimedOut;
    return blame(evidence, *rank, hang ? reports::Status::kHang : reports::Status::kCrash,
                 status.state == RankState::kSignaled ? signal_text(status.signal) : status.note);
  }
  if (const auto told = told_by_mpirun(evidence))
    return blame(evidence, told->rank, reports::Status::kCrash, told->how);
  const size_t latest = best(evidence, [&](size_t a, size_t b) {
    return evidence.ranks[a].when > evidence.ranks[b].when;
  });
  return blame(evidence, latest, reports::Status::kCrash,
               "the worker ended with " + evidence.ended->text());
}

}  // namespace

Evidence collect(const std::vector<RankStatus>& ranks, const std::optional<Ended>& ended,
                 double silent_seconds, const std::string& output) {
  Evidence evidence{ranks, {}, ended, silent_seconds, output};
  for (const RankStatus& rank : ranks)
    evidence.stopped.push_back(rank.pid > 0 && process_state(rank.pid) == "T");
  return evidence;
}

Death explain(const Evidence& evidence) {
  if (evidence.ended)
    return died(evidence);
  const size_t rank = hung(evidence);
  return blame(evidence, rank, reports::Status::kHang,
               (evidence.stopped[rank] ? "its process is stopped, " : "") +
                   std::string("no rank made progress for ") +
                   reports::seconds_text(evidence.silent_seconds));
}

}  // namespace ringcheck::cli
