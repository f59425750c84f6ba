// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/scaling/scaled.h"

#include <algorithm>

#include "cli/to_result.h"
#include "parity/judge/expected/expected.h"

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

}  // namespace

std::vector<reports::Measurement> measurements_of(const Scaled& scaled) {
  const auto& [test, devices, errors, timing, alone] = scaled;
  const Timing& one = alone.first;
  auto parts = cli::to_result(test, reports::Status::kPass, "").parts;
  parts["devices"] = std::to_string(devices);
  const Work work = work_of(test);
  std::vector<reports::Measurement> list;
  const auto add = [&](const char* name, const char* unit, const char* better, Figures samples) {
    list.push_back({name, parts, unit, std::move(samples), better, {}});
  };
  const auto seconds = [](double s) { return s; };
  const double share = devices;
  add("seconds", "s", "smaller", each(timing.seconds, seconds));
  add("seconds_on_one", "s", "smaller", each(one.seconds, seconds));
  add("tflops_per_device", "TFLOP/s", "larger",
      each(timing.seconds, [&](double s) { return work.both / s / share; }));
  add("tflops_on_one", "TFLOP/s", "larger",
      each(one.seconds, [&](double s) { return work.both / s; }));
  add("eta", "", "larger", {median(one.seconds) / (median(timing.seconds) * share)});
  add("seconds_on_slowest", "s", "smaller", {alone.slowest_seconds});
  add("tflops_on_slowest", "TFLOP/s", "larger", {work.both / alone.slowest_seconds});
  add("forward_seconds_on_slowest", "s", "smaller", {alone.slowest_forward_seconds});
  add("forward_tflops_on_slowest", "TFLOP/s", "larger", {work.forward / alone.slowest_forward_seconds});
  add("forward_seconds", "s", "smaller", each(timing.forward_seconds, seconds));
  add("forward_tflops_per_device", "TFLOP/s", "larger",
      each(timing.forward_seconds, [&](double s) { return work.forward / s / share; }));
  add("forward_tflops_on_one", "TFLOP/s", "larger",
      each(one.forward_seconds, [&](double s) { return work.forward / s; }));
  add("forward_eta", "", "larger",
      {median(one.forward_seconds) / (median(timing.forward_seconds) * share)});
  if (test.world > 1) {
    add("bytes_sent", "B", "smaller", {work.sent});
    add("bus_bandwidth", "B/s", "larger", each(timing.seconds, [&](double s) { return work.sent / s; }));
  }
  if (timing.link_bytes) {
    add("link_bandwidth", "B/s", "larger", {*timing.link_bytes});
    const double roof = std::max(median(one.seconds) / share, work.sent / *timing.link_bytes);
    add("roofline", "", "larger", {roof / median(timing.seconds)});
  }
  if (timing.thrown_away) add("samples_thrown_away", "", "smaller", {static_cast<double>(*timing.thrown_away)});
  if (one.thrown_away) add("samples_thrown_away_on_one", "", "smaller", {static_cast<double>(*one.thrown_away)});
  if (timing.exposed_share) add("exposed_communication", "", "smaller", {*timing.exposed_share});
  if (timing.attention_share) add("attention", "", "larger", {*timing.attention_share});
  const auto add_timeline = [&](const std::string& of, const std::optional<Timeline>& line) {
    if (!line) return;
    for (const auto& [what, took] : {std::pair{"", line->seconds}, {"_attention", line->attention}, {"_transfers", line->transfers},
                                     {"_others", line->others}, {"_idle", line->idle}})
      list.push_back({of + "traced" + what + "_seconds", parts, "s", {took}, "smaller", {}});
  };
  add_timeline("forward_", timing.forward_timeline);
  add_timeline("", timing.timeline);
  if (timing.peak_bytes)
    list.push_back({"peak_bytes", parts, "B", {static_cast<double>(*timing.peak_bytes)}, "smaller", {}});
  for (const auto& [tensor, error] : errors)
    list.push_back({"error_" + tensor, parts, "", {error}, "smaller", {}});
  if (!timing.ledger_shares.empty())
    add("ledger_overhead", "", "smaller", each(timing.ledger_shares, seconds));
  return list;
}

}  // namespace ringcheck::bench
