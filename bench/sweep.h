// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>
#include <vector>

#include "cp/registry.h"

namespace ringcheck::bench {

struct Benchmark {
  std::string name;
  std::function<void(benchmark::State&)> body;
  bool manual_time = false;  // the body says how long an iteration took
};

// One subject of measurement: adds its benchmarks to the list.
using Sweeps = Registry<std::function<void(std::vector<Benchmark>&)>>;

}  // namespace ringcheck::bench
