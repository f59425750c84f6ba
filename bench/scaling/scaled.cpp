// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/scaling/scaled.h"

#include <algorithm>
#include <functional>

#include "cli/to_result.h"
#include "parity/judge/expected/expected.h"
#include "reports/median.h"

namespace ringcheck::bench {
namespace {

using Figures = std::vector<reports::Figure>;

// Of all ranks.
struct Work {
  double forward = 0, both = 0;  // 1e12 operations
  double sent = 0;               // bytes of both passes, by the rank that sends most
};

Work work_of(const parity::Case& test) {
  Work work;
  for (const parity::ExpectedCounters& rank : parity::expected_counters(test)) {
    work.forward += static_cast<double>(rank.forward.flops) * 1e-12;
    work.both += static_cast<double>(rank.forward.flops + rank.backward.flops) * 1e-12;
    work.sent = std::max(work.sent, static_cast<double>(rank.forward.bytes + rank.backward.bytes));
  }
  return work;
}

Figures each(const std::vector<double>& values, const auto& figure) {
  Figures samples;
  for (const double value : values) samples.push_back(figure(value));
  return samples;
}

using Add = std::function<void(const std::string& name, const char* unit, const char* better, Figures samples)>;

Figures as_they_are(const std::vector<double>& values) {
  return each(values, [](double value) { return value; });
}

void add_passes(const Scaled& scaled, const Work& work, const Add& add) {
  const Timing& timing = scaled.timing;
  const double share = scaled.devices;
  add("seconds", "s", "smaller", as_they_are(timing.seconds));
  add("tflops_per_device", "TFLOP/s", "larger", each(timing.seconds, [&](double s) { return work.both / s / share; }));
  add("forward_seconds", "s", "smaller", as_they_are(timing.forward_seconds));
  add("forward_tflops_per_device", "TFLOP/s", "larger", each(timing.forward_seconds, [&](double s) { return work.forward / s / share; }));
}

void add_alone(const Scaled& scaled, const Work& work, const Add& add) {
  const Alone& alone = scaled.alone;
  const Timing &one = alone.first, &all = scaled.timing;
  const double share = scaled.devices;
  add("seconds_on_one", "s", "smaller", as_they_are(one.seconds));
  add("tflops_on_one", "TFLOP/s", "larger", each(one.seconds, [&](double s) { return work.both / s; }));
  add("forward_tflops_on_one", "TFLOP/s", "larger", each(one.forward_seconds, [&](double s) { return work.forward / s; }));
  add("seconds_on_slowest", "s", "smaller", {alone.slowest_seconds});
  add("tflops_on_slowest", "TFLOP/s", "larger", {work.both / alone.slowest_seconds});
  add("forward_seconds_on_slowest", "s", "smaller", {alone.slowest_forward_seconds});
  add("forward_tflops_on_slowest", "TFLOP/s", "larger", {work.forward / alone.slowest_forward_seconds});
  add("eta", "", "larger", {reports::median(one.seconds) / (reports::median(all.seconds) * share)});
  add("forward_eta", "", "larger", {reports::median(one.forward_seconds) / (reports::median(all.forward_seconds) * share)});
}

void add_link(const Scaled& scaled, const Work& work, const Add& add) {
  const Timing& timing = scaled.timing;
  if (scaled.test.world > 1) {
    add("bytes_sent", "B", "smaller", {work.sent});
    add("bus_bandwidth", "B/s", "larger", each(timing.seconds, [&](double s) { return work.sent / s; }));
  }
  if (!timing.link_bytes) return;
  add("link_bandwidth", "B/s", "larger", {*timing.link_bytes});
  const double roof = std::max(reports::median(scaled.alone.first.seconds) / scaled.devices, work.sent / *timing.link_bytes);
  add("roofline", "", "larger", {roof / reports::median(timing.seconds)});
}

void add_timeline(const std::string& of, const std::optional<Timeline>& line, const Add& add) {
  if (!line) return;
  for (const auto& [what, took] : {std::pair{"", line->seconds}, {"_attention", line->attention}, {"_transfers", line->transfers},
                                   {"_others", line->others}, {"_idle", line->idle}})
    add(of + "traced" + what + "_seconds", "s", "smaller", {took});
}

// What says how far times are to be trusted has no better way.
void add_circumstances(const Scaled& scaled, const Add& add) {
  const Timing &timing = scaled.timing, &one = scaled.alone.first;
  if (timing.thrown_away) add("samples_thrown_away", "", "", {static_cast<double>(*timing.thrown_away)});
  if (one.thrown_away) add("samples_thrown_away_on_one", "", "", {static_cast<double>(*one.thrown_away)});
  for (const auto& [tensor, error] : scaled.errors) add("error_" + tensor, "", "", {error});
  if (!timing.ledger_shares.empty()) add("ledger_overhead", "", "", as_they_are(timing.ledger_shares));
}

}  // namespace

std::vector<reports::Measurement> measurements_of(const Scaled& scaled) {
  auto parts = cli::to_result(scaled.test, reports::Status::kPass, "").parts;
  parts["devices"] = std::to_string(scaled.devices);
  std::vector<reports::Measurement> list;
  const Add add = [&](const std::string& name, const char* unit, const char* better, Figures samples) {
    list.push_back({name, parts, unit, std::move(samples), better, {}});
  };
  const Work work = work_of(scaled.test);
  const Timing& timing = scaled.timing;
  add_passes(scaled, work, add);
  add_alone(scaled, work, add);
  add_link(scaled, work, add);
  if (timing.exposed_share) add("exposed_communication", "", "smaller", {*timing.exposed_share});
  if (timing.attention_share) add("attention", "", "larger", {*timing.attention_share});
  add_timeline("forward_", timing.forward_timeline, add);
  add_timeline("", timing.timeline, add);
  if (timing.peak_bytes) add("peak_bytes", "B", "smaller", {static_cast<double>(*timing.peak_bytes)});
  add_circumstances(scaled, add);
  return list;
}

}  // namespace ringcheck::bench
