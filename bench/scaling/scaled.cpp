// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/scaling/scaled.h"

#include "cli/to_result.h"
#include "parity/judge/expected/expected.h"

namespace ringcheck::bench {
namespace {

using Figures = std::vector<reports::Figure>;

double tflop(const parity::Case& test) {
  int64_t sum = 0;
  for (const parity::ExpectedCounters& rank : parity::expected_counters(test))
    sum += rank.forward.flops + rank.backward.flops;
  return static_cast<double>(sum) * 1e-12;
}

Figures each(const std::vector<double>& values, const auto& figure) {
  Figures samples;
  for (const double value : values) samples.push_back(figure(value));
  return samples;
}

}  // namespace

std::vector<reports::Measurement> measurements_of(const Scaled& scaled) {
  const auto& [test, devices, timing, one] = scaled;
  auto parts = cli::to_result(test, reports::Status::kPass, "").parts;
  parts["devices"] = std::to_string(devices);
  const double work = tflop(test);
  std::vector<reports::Measurement> list;
  const auto add = [&](const char* name, const char* unit, const char* better, Figures samples) {
    list.push_back({name, parts, unit, std::move(samples), better, {}});
  };
  const auto seconds = [](double s) { return s; };
  const double share = devices;
  add("seconds", "s", "smaller", each(timing.seconds, seconds));
  add("seconds_on_one", "s", "smaller", each(one.seconds, seconds));
  add("tflops_per_device", "TFLOP/s", "larger",
      each(timing.seconds, [&](double s) { return work / s / share; }));
  add("tflops_on_one", "TFLOP/s", "larger",
      each(one.seconds, [&](double s) { return work / s; }));
  add("eta", "", "larger", {median(one.seconds) / (median(timing.seconds) * share)});
  add("exposed_communication", "", "smaller", {timing.exposed_share});
  add("attention", "", "larger", {timing.attention_share});
  add("ledger_overhead", "", "smaller", each(timing.ledger_shares, seconds));
  return list;
}

}  // namespace ringcheck::bench
