// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "bench/rig.h"
#include "bench/sweep.h"
#include "cp/device/cuda_library.h"
#include "parity/case/devices/on_device.h"
#include "parity/judge/observed.h"
#include "parity/judge/oracle.h"
#include "parity/subject/world.h"

namespace ringcheck::bench {
namespace {

// Judged elements of O, LSE, dQ, dK and dV.
double elements(const parity::Case& t) {
  return static_cast<double>(t.batch * t.seq *
                             (t.q_heads * (t.dim_v + 1 + t.dim) + t.kv_heads * (t.dim + t.dim_v)));
}

// Whole cases, from problem to verdict, a new seed each.
void verification(benchmark::State& state, parity::Case test) {
  for (auto _ : state) {
    ++test.seed;
    const parity::Verdict verdict = parity::verify(test, {});
    if (verdict.status == parity::Status::kPass) continue;
    const std::string reason = parity::to_text(verdict.status) + ": " + parity::to_text(test);
    return state.SkipWithError(reason.c_str());
  }
  state.counters["cases/s"] = {1, benchmark::Counter::kIsIterationInvariantRate};
  state.counters["elements/s"] = {elements(test), benchmark::Counter::kIsIterationInvariantRate};
}

// The tensors of a case, on its device.
void inputs(benchmark::State& state, const parity::Case& test) {
  const at::Device device(parity::device_type_of(test));
  for (auto _ : state) {
    const parity::Problem problem = parity::problem_on(device, test, {{0, test.seq}});
    benchmark::DoNotOptimize(problem.d_o.flatten()[-1].item<double>());
  }
  state.counters["elements/s"] = {elements(test), benchmark::Counter::kIsIterationInvariantRate};
}

// From a case to what the ranks of its subject returned.
void solving(benchmark::State& state, parity::Case test) {
  const parity::SharedSubject subject = parity::subject_of(test);
  for (auto _ : state) {
    ++test.seed;
    parity::ThreadRanks threads(std::chrono::milliseconds(30000));
    benchmark::DoNotOptimize(parity::observe(test, *subject, threads, {})->outcome.ranks.size());
  }
  state.counters["elements/s"] = {elements(test), benchmark::Counter::kIsIterationInvariantRate};
}

// From what a subject returned to what these oracles say of it.
void judging(benchmark::State& state, const parity::Case& test,
             const std::vector<std::string>& oracles) {
  const parity::SharedSubject subject = parity::subject_of(test);
  const parity::Outcome outcome = parity::solve_on_threads({test}, *subject);
  const parity::Problem problem =
      parity::problem_on(outcome.tensors.o.device(), test, {{0, test.seq}});
  const std::vector<parity::Outcome> no_variations;
  const parity::Evidence evidence{test, *subject, problem, outcome, no_variations, [] {}};
  for (auto _ : state)
    for (const std::string& name : oracles)
      if (parity::Oracles::at(name).judge(evidence).status == parity::Status::kFail)
        return state.SkipWithError((name + " fails " + parity::to_text(test)).c_str());
  state.counters["elements/s"] = {elements(test), benchmark::Counter::kIsIterationInvariantRate};
}

// A whole case and the parts of it: its inputs, its subject, and the oracles that take time.
void add_parts(std::vector<Benchmark>& list, const parity::Case& test, const std::string& shape) {
  using State = benchmark::State;
  list.push_back({"verification" + shape, [test](State& state) { verification(state, test); }});
  list.push_back({"inputs" + shape, [test](State& state) { inputs(state, test); }});
  list.push_back({"solving" + shape, [test](State& state) { solving(state, test); }});
  list.push_back({"judging" + shape, [test](State& state) {
                    judging(state, test, parity::oracles_of_one_run());
                  }});
  for (const char* oracle : {"parity", "conservation", "counters"})
    list.push_back({std::string("judging/") + oracle + shape,
                    [test, oracle](State& state) { judging(state, test, {oracle}); }});
}

// Two ranks that share a GPU, at a shape that is trained.
void add_gpu(std::vector<Benchmark>& list) {
  for (const char* kernel : {"cudnn", "wgmma"})
    for (const int64_t kv_heads : {8, 32}) {
      parity::Case test = parity::parse_case("P2/hq32/s8K/d128/bf16");
      test.device = "cuda";
      test.kernel = kernel;
      test.kv_heads = kv_heads;
      const std::string shape = std::string("/cuda/") + kernel + "/P2/hq32/hkv" +
                                std::to_string(kv_heads) + "/s8192/d128";
      add_parts(list, test, shape);
    }
}

void add(std::vector<Benchmark>& list) {
  for (const int64_t seq : {48, 256, 1024})
    for (const int world : {1, 2, 4, 8})
      for (const int64_t dim : {16, 64}) {
        parity::Case test = parity::parse_case("hq4/hkv2/bf16");
        test.seq = seq;
        test.world = world;
        test.dim = test.dim_v = dim;
        list.push_back({"verification/s" + std::to_string(seq) + "/P" + std::to_string(world) +
                            "/d" + std::to_string(dim),
                        [test](benchmark::State& state) { verification(state, test); }});
      }
  if (!why_no_cuda()) add_gpu(list);
}

const Sweeps::Add registered{"verification", add};

}  // namespace
}  // namespace ringcheck::bench
