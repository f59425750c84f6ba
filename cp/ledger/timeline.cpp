// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/ledger/timeline.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace ringcheck {
namespace {

// The monotonic clocks of all processes between two starts of a machine are one.
std::string clock_here() {
  std::string text;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> text;
  return text.empty() ? "unknown" : text;
}

// By the clock of the machine, of a time by that of a ledger.
std::optional<int64_t> time_of(const Instant& instant, const Ledger& ledger) {
  if (!std::isfinite(instant.seconds)) return std::nullopt;
  const std::chrono::nanoseconds origin = ledger.origin().time_since_epoch();
  return origin.count() + std::llround(instant.seconds * 1e9);
}

auto order(const Event& event) {
  return std::tuple(event.phase, !event.begin, event.begin.value_or(0));
}

// By pass and clock.
using Beginnings = std::map<std::pair<Phase, std::string>, int64_t>;

Beginnings first_of(const std::vector<Timeline>& ranks) {
  Beginnings first;
  for (const Timeline& rank : ranks)
    for (const Event& event : rank.events)
      if (event.begin) {
        int64_t& least = first.try_emplace({event.phase, rank.clock}, *event.begin).first->second;
        least = std::min(least, *event.begin);
      }
  return first;
}

constexpr const char* kNoTime = "-";

std::string text_of(const std::optional<int64_t>& time) {
  return time ? std::to_string(*time) : kNoTime;
}

std::optional<int64_t> time_from(const std::string& text) {
  if (text == kNoTime) return std::nullopt;
  return std::stoll(text);
}

Event event_from(const std::string& line) {
  std::istringstream words(line);
  int what = -1, phase = -1;
  std::string begin, end;
  Event event;
  words >> what >> phase >> begin >> end >> event.pairs >> event.flops >> event.bytes >>
      event.step >> event.peer;
  if (!words || what < 0 || what > 3 || phase < 0 || phase > 1)
    throw std::invalid_argument("no event of a timeline: '" + line + "'");
  std::getline(words >> std::ws, event.operation);
  event.what = static_cast<Event::What>(what);
  event.phase = static_cast<Phase>(phase);
  event.begin = time_from(begin);
  event.end = time_from(end);
  return event;
}

}  // namespace

Timeline timeline_of(const Ledger& ledger) {
  const auto when = [&](const Instant& instant) { return time_of(instant, ledger); };
  Timeline timeline{clock_here(), {}};
  for (const Attended& a : ledger.attentions())
    timeline.events.push_back({Event::What::kAttend, a.phase, when(a.begin), when(a.end), a.pairs,
                               a.flops});
  for (const Merged& m : ledger.merges())
    timeline.events.push_back({Event::What::kMerge, m.phase, when(m.at), when(m.at)});
  for (const Transferred& t : ledger.transfers())
    timeline.events.push_back({t.direction == Transferred::Direction::kSent ? Event::What::kSend
                                                                            : Event::What::kReceive,
                               t.phase, when(t.begin), when(t.end), 0, 0, t.bytes, t.operation.step,
                               t.operation.peer, t.operation.name});
  std::ranges::stable_sort(timeline.events, {}, order);
  return timeline;
}

void align(std::vector<Timeline>& ranks) {
  const Beginnings first = first_of(ranks);
  for (Timeline& rank : ranks)
    for (Event& event : rank.events) {
      const auto zero = first.find({event.phase, rank.clock});
      for (std::optional<int64_t>* time : {&event.begin, &event.end})
        if (*time && zero != first.end()) **time -= zero->second;
    }
}

std::string text_of(const Timeline& timeline) {
  std::ostringstream text;
  text << timeline.clock << "\n";
  for (const Event& event : timeline.events)
    text << static_cast<int>(event.what) << " " << static_cast<int>(event.phase) << " "
         << text_of(event.begin) << " " << text_of(event.end) << " " << event.pairs << " "
         << event.flops << " " << event.bytes << " " << event.step << " " << event.peer << " "
         << event.operation << "\n";
  return text.str();
}

Timeline timeline_from(const std::string& text) {
  std::istringstream lines(text);
  Timeline timeline;
  std::getline(lines, timeline.clock);
  for (std::string line; std::getline(lines, line);) timeline.events.push_back(event_from(line));
  return timeline;
}

}  // namespace ringcheck
