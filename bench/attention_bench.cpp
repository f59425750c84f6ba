// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <c10/util/StringUtil.h>

#include <algorithm>

#include "bench/rig.h"
#include "bench/sweep.h"

namespace ringcheck::bench {
namespace {

int64_t total(const std::vector<Counters>& ranks, int64_t Counters::*field) {
  int64_t sum = 0;
  for (const Counters& rank : ranks) sum += rank.*field;
  return sum;
}

// How much longer the rank with the most pairs works than the average one.
double imbalance(const std::vector<Counters>& ranks) {
  int64_t most = 0;
  for (const Counters& rank : ranks) most = std::max(most, rank.pairs);
  const double mean = static_cast<double>(total(ranks, &Counters::pairs)) / ranks.size();
  return mean > 0 ? static_cast<double>(most) / mean : 1;
}

void context_parallel(benchmark::State& state, const parity::Case& test, Passes passes) {
  if (!passes_first(state, test)) return;
  const Rig rig(test);
  Timed last;
  for (auto _ : state) {
    last = rig.run(passes);
    state.SetIterationTime(last.seconds);
  }
  state.SetLabel(parity::to_text(test));
  using benchmark::Counter;
  const double flops = static_cast<double>(total(last.forward, &Counters::flops) +
                                           total(last.backward, &Counters::flops));
  state.counters["FLOP/s"] = {flops, Counter::kIsIterationInvariantRate};
  state.counters["bytes_sent"] = static_cast<double>(total(last.forward, &Counters::bytes_sent) +
                                                     total(last.backward, &Counters::bytes_sent));
  state.counters["messages"] = static_cast<double>(total(last.forward, &Counters::messages) +
                                                   total(last.backward, &Counters::messages));
  state.counters["pairs"] = static_cast<double>(total(last.forward, &Counters::pairs));
  state.counters["imbalance"] = imbalance(last.forward);
  state.counters["peak_bytes"] = static_cast<double>(last.peak_bytes);
}

// The ring by the name of each rotation, other strategies by their own: names, and strategies as text.
std::vector<std::pair<std::string, std::string>> strategies() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [rotation, unused] : Rotations::all()) all.push_back({rotation, "ring:" + rotation});
  for (const auto& [name, strategy] : Strategies::all())
    if (name != "ring")
      for (const std::string& arguments : strategy.values())
        all.push_back({name + arguments, name + arguments});
  return all;
}

// strategy x balancer x world, forward and forward + backward, one shape and dtype.
void add(std::vector<Benchmark>& list) {
  for (const auto& [way, strategy] : strategies())
    for (const auto& [balance, also_unused] : Balancers::all())
      for (const int world : {1, 2, 4}) {
        parity::Case test = parity::parse_case(strategy + "/P1/hq8/hkv2/s1K/d64/float32");
        test.balance = balance;
        test.block = Balancers::at(balance).takes_block ? 16 : 1;
        test.world = world;
        if (parity::not_supported(test)) continue;
        for (const auto& [name, passes] : {std::pair{"forward", Passes::kForward},
                                           std::pair{"forward+backward", Passes::kBoth}})
          list.push_back({c10::str("attention/", name, "/", way, "/", balance, "/P", world),
                          [test, passes = passes](benchmark::State& state) {
                            context_parallel(state, test, passes);
                          },
                          true});
      }
}

const Sweeps::Add registered{"attention", add};

}  // namespace
}  // namespace ringcheck::bench
