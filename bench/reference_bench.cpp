// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/sweep.h"
#include "parity/oracle.h"
#include "parity/problem.h"
#include "parity/reference_rope.h"

namespace ringcheck::bench {
namespace {

parity::Case shape(int64_t seq, int64_t dim) {
  parity::Case test = parity::parse_case("P1/hq4/hkv1/bf16");
  test.seq = seq;
  test.dim = test.dim_v = dim;
  return test;
}

reference::Inputs inputs_of(const parity::Case& test) {
  const parity::Problem problem = parity::problem_of(test);
  return {problem.q, problem.k, problem.v, problem.d_o, parity::mask_of(test), parity::scale_of(test)};
}

// Forward and backward FLOPs of the visible pairs.
double flops(const parity::Case& test) {
  const Positions all{{0, test.seq}};
  const double pairs = static_cast<double>(visible_pairs(parity::mask_of(test), all, all) *
                                           test.batch * test.q_heads);
  return pairs * static_cast<double>(8 * test.dim + 6 * test.dim_v);
}

void attention(benchmark::State& state, const parity::Case& test) {
  const reference::Inputs inputs = inputs_of(test);
  for (auto _ : state) benchmark::DoNotOptimize(reference::attention(inputs).dq.data_ptr());
  state.counters["FLOP/s"] = {flops(test), benchmark::Counter::kIsIterationInvariantRate};
}

// Truth, bound and sigma together; its cost over the plain float64 passes is the price of a
// verdict on every element.
void judge(benchmark::State& state, const parity::Case& test) {
  const reference::Inputs inputs = inputs_of(test);
  const reference::Contract contract = parity::contract_of(test);
  for (auto _ : state)
    benchmark::DoNotOptimize(
        reference::judge(inputs, contract, test.world, parity::reference_rope(test)).value.dq.data_ptr());
  state.counters["FLOP/s"] = {flops(test), benchmark::Counter::kIsIterationInvariantRate};
}

void add(std::vector<Benchmark>& list) {
  for (const int64_t seq : {64, 512, 2048})
    for (const int64_t dim : {16, 128}) {
      const parity::Case test = shape(seq, dim);
      const std::string size = "s" + std::to_string(seq) + "/d" + std::to_string(dim);
      list.push_back({"reference/attention/" + size,
                      [test](benchmark::State& state) { attention(state, test); }});
      list.push_back({"reference/judge/" + size,
                      [test](benchmark::State& state) { judge(state, test); }});
    }
}

const Sweeps::Add registered{"reference", add};

}  // namespace
}  // namespace ringcheck::bench
