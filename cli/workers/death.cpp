// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/workers/death.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <ctime>
#include <regex>

#include "cli/process/programs.h"
#include "cli/workers/last_words.h"
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

std::vector<std::string> everybody(const Remains& remains) {
  std::vector<std::string> lines;
  uint64_t last = 0;
  for (const RankStatus& rank : remains.ranks)
    last = std::max(last, rank.when);
  for (size_t r = 0; r < remains.ranks.size(); ++r) {
    const RankStatus& rank = remains.ranks[r];
    if (rank.state == RankState::kIdle)
      continue;
    if (lines.size() == kRanksShown) {
      lines.push_back("and more ranks");
      break;
    }
    const double behind = static_cast<double>(last - rank.when) * 1e-9;
    lines.push_back(rank_text(r, rank) + (remains.stopped[r] ? ", its process is stopped" : "") +
                    (behind > 0.0005
                         ? ", " + reports::fixed(behind, 3) + " s before the last sign of life"
                         : ""));
  }
  return lines;
}

// The first rank of which this holds.
template <class Holds>
std::optional<size_t> first_of(const std::vector<RankStatus>& ranks, const Holds& holds) {
  std::optional<size_t> first;
  for (size_t r = 0; r < ranks.size(); ++r)
    if (holds(ranks[r]) && (!first || ranks[r].when < ranks[*first].when))
      first = r;
  return first;
}

bool has_failed(const RankStatus& rank) {
  return rank.state == RankState::kSignaled || rank.state == RankState::kThrew;
}

bool has_timed_out(const RankStatus& rank) { return rank.state == RankState::kTimedOut; }

// The first rank that said itself why it ends.
std::optional<size_t> confessed(const Remains& remains) {
  return first_of(remains.ranks,
                  [](const RankStatus& rank) { return has_failed(rank) || has_timed_out(rank); });
}

template <class Better>
size_t best(const Remains& remains, const Better& better) {
  size_t found = 0;
  for (size_t r = 1; r < remains.ranks.size(); ++r)
    if (remains.ranks[r].state != RankState::kIdle && better(r, found))
      found = r;
  return found;
}

// mpirun tells which rank a signal ended.
struct Told {
  size_t rank;
  std::string how;
};
std::optional<Told> told_by_mpirun(const Remains& remains) {
  static const std::regex sentence(
      R"(process rank (\d+) with PID \d+ on node \S+\s+exited on\s+(signal \d+ \([^)]*\)))");
  std::smatch match;
  if (!std::regex_search(remains.output, match, sentence))
    return std::nullopt;
  size_t rank = 0;
  const auto parsed = std::from_chars(&*match[1].first, &*match[1].first + match[1].length(), rank);
  if (parsed.ec != std::errc() || rank >= remains.ranks.size())
    return std::nullopt;
  return Told{rank, match[2]};
}

// A stopped rank; else one that computes while the others wait for it; else the one that has been
// silent for longest.
size_t hung(const Remains& remains) {
  const auto suspicion = [&](size_t r) {
    const RankStatus& rank = remains.ranks[r];
    return (remains.stopped[r] ? 2 : 0) + (rank.peer < 0 && rank.state == RankState::kRunning);
  };
  return best(remains, [&](size_t a, size_t b) {
    if (suspicion(a) != suspicion(b))
      return suspicion(a) > suspicion(b);
    return remains.ranks[a].when < remains.ranks[b].when;
  });
}

Death blame(const Remains& remains, size_t rank, reports::Status verdict, const std::string& how) {
  return {verdict, remains.ranks[rank].test, rank_text(rank, remains.ranks[rank]) + ": " + how,
          everybody(remains)};
}

// By which signal, and what its process said of that.
std::string how_signaled(const Remains& remains, const RankStatus& rank) {
  const std::string words = last_words(remains.output);
  return Ended{0, rank.signal}.text() + (words.empty() ? "" : ", " + words);
}

// By its own words.
Death blame(const Remains& remains, size_t rank) {
  const RankStatus& status = remains.ranks[rank];
  return blame(remains, rank,
               has_timed_out(status) ? reports::Status::kHang : reports::Status::kCrash,
               status.state == RankState::kSignaled ? how_signaled(remains, status) : status.note);
}

Death died(const Remains& remains) {
  if (const auto rank = confessed(remains)) return blame(remains, *rank);
  if (const auto told = told_by_mpirun(remains))
    return blame(remains, told->rank, reports::Status::kCrash, told->how);
  const size_t latest = best(remains, [&](size_t a, size_t b) {
    return remains.ranks[a].when > remains.ranks[b].when;
  });
  return blame(remains, latest, reports::Status::kCrash,
               "the worker ended with " + remains.ended->text());
}

}  // namespace

Remains collect(const std::vector<RankStatus>& ranks, const std::optional<Ended>& ended,
                double silent_seconds, const std::string& output) {
  Remains remains{ranks, {}, ended, silent_seconds, output};
  for (const RankStatus& rank : ranks)
    remains.stopped.push_back(rank.pid > 0 && process_state(rank.pid) == 'T');
  return remains;
}

Death explain(const Remains& remains) {
  if (remains.ended)
    return died(remains);
  const size_t rank = hung(remains);
  return blame(remains, rank, reports::Status::kHang,
               (remains.stopped[rank] ? "its process is stopped, " : "") +
                   std::string("no rank made progress for ") +
                   reports::seconds_text(remains.silent_seconds));
}

Death explain_launched(const std::vector<RankStatus>& ranks) {
  const Remains remains = collect(ranks, {}, 0, "");
  const auto first = first_of(ranks, [](const RankStatus& rank) { return rank.state == RankState::kInterrupted; });
  // One that was killed says nothing, and ends the others: by its launcher, or because they wait for
  // it in vain. Who interrupts all of them may kill those that are slow to answer, so that of an
  // interrupt those count that were gone by then.
  const auto is_gone = [&](const RankStatus& rank) {
    if (first) return ranks[*first].gone == &rank - ranks.data();
    return rank.state == RankState::kRunning && (&rank == &ranks.front() || !is_alive(rank.pid));
  };
  // What fails once a partner was interrupted fails for that.
  const auto was_first = [&](const RankStatus& rank) { return !first || rank.when < ranks[*first].when; };
  const auto failed = [&](const RankStatus& rank) { return has_failed(rank) && was_first(rank); };
  const auto timed_out = [&](const RankStatus& rank) { return has_timed_out(rank) && was_first(rank); };
  if (const auto rank = first_of(ranks, is_gone))
    return blame(remains, *rank, reports::Status::kCrash, "its process is gone, killed perhaps");
  if (const auto rank = first_of(ranks, failed)) return blame(remains, *rank);
  if (const auto rank = first_of(ranks, timed_out)) return blame(remains, *rank);
  if (!first)
    return {reports::Status::kCrash, -1, "rank 0 ended and does not say why", everybody(remains)};
  const std::string name = ::strsignal(ranks[*first].signal);
  if (std::ranges::all_of(ranks, [](const RankStatus& rank) { return rank.state != RankState::kIdle; }))
    return blame(remains, *first, reports::Status::kSkipped, "interrupted by " + name);
  return blame(remains, *first, reports::Status::kCrash,
               "ended by " + name + "; what ranks of other machines did is not known");
}

Cost cost_of(const Death& death, const Accounts& accounts) {
  const auto& [done, pending_then, pending] = accounts;
  const auto running = static_cast<size_t>(death.test);
  const auto runs = [&](const std::vector<size_t>& tests) { return std::ranges::find(tests, running) != tests.end(); };
  if (death.test < 0 || (done.empty() && pending.empty())) return {Cost::Of::kStart};
  if (runs(pending) && runs(pending_then)) return {Cost::Of::kTest, running};
  if (runs(pending) || runs(pending_then)) return {Cost::Of::kNothing};
  return {Cost::Of::kTest, pending.empty() ? done.back() : pending.front()};
}

}  // namespace ringcheck::cli
