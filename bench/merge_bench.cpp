// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "bench/sweep.h"
#include "cp/attention/partial.h"

namespace ringcheck::bench {
namespace {

Partial random_partial(int64_t rows, int64_t dim) {
  return {at::randn({1, 8, rows, dim}), at::randn({1, 8, rows})};
}

void merge_rows(benchmark::State& state, int64_t rows, int64_t dim) {
  const Partial a = random_partial(rows, dim), b = random_partial(rows, dim);
  if (!merge(a, b).out.equal(merge(b, a).out)) return state.SkipWithError("merge does not commute");
  for (auto _ : state) benchmark::DoNotOptimize(merge(a, b).out.data_ptr());
  // Two partial results read, one written.
  const double bytes = 3.0 * static_cast<double>(a.out.nbytes() + a.lse.nbytes());
  state.counters["bytes/s"] = {bytes, benchmark::Counter::kIsIterationInvariantRate,
                               benchmark::Counter::OneK::kIs1024};
}

void add(std::vector<Benchmark>& list) {
  for (const int64_t rows : {64, 1024, 8192})
    for (const int64_t dim : {64, 128})
      list.push_back({"merge/rows" + std::to_string(rows) + "/d" + std::to_string(dim),
                      [rows, dim](benchmark::State& state) { merge_rows(state, rows, dim); }});
}

const Sweeps::Add registered{"merge", add};

}  // namespace
}  // namespace ringcheck::bench
