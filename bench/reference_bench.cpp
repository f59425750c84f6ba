// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "bench/sweep.h"
#include "cp/device/cuda_library.h"
#include "parity/case/devices/on_device.h"
#include "parity/judge/devices/on_devices.h"
#include "parity/judge/oracle.h"
#include "parity/judge/reference_rope.h"
#include "reference/errors/bounds.h"
#include "reference/solve.h"
#include "reference/tiles/tiling.h"

namespace ringcheck::bench {
namespace {

parity::Case shape(int64_t seq, int64_t dim) {
  parity::Case test = parity::parse_case("P1/hq4/hkv1/bf16");
  test.seq = seq;
  test.dim = test.dim_v = dim;
  return test;
}

reference::Inputs inputs_of(const parity::Case& test) {
  const at::Device device = test.device == "cuda" ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
  const parity::Problem problem = parity::problem_on(device, test, {{0, test.seq}});
  return {problem.q, problem.k, problem.v, problem.d_o, parity::mask_of(test),
          parity::scale_of(test)};
}

// Forward and backward FLOPs of the visible pairs.
double flops(const parity::Case& test) {
  const Positions all{{0, test.seq}};
  const double pairs = static_cast<double>(visible_pairs(parity::mask_of(test), all, all) *
                                           test.batch * test.q_heads);
  return pairs * static_cast<double>(8 * test.dim + 6 * test.dim_v);
}

// The clock stops when the device is done.
void finish(const at::Tensor& x) { benchmark::DoNotOptimize(x.flatten()[0].item<double>()); }

void attention(benchmark::State& state, const parity::Case& test) {
  const reference::Inputs inputs = inputs_of(test);
  for (auto _ : state)
    finish(reference::attention(inputs, reference::tiling_for(inputs)).dq);
  state.counters["FLOP/s"] = {flops(test), benchmark::Counter::kIsIterationInvariantRate};
}

// Truth, bound and sigma together; its cost over the plain float64 passes is the price of a
// verdict on every element.
void judge(benchmark::State& state, const parity::Case& test) {
  const reference::Inputs inputs = inputs_of(test);
  const reference::Judge judged(inputs, parity::contract_of(test), test.world,
                                parity::reference_rope(test), reference::tiling_for(inputs));
  for (auto _ : state)
    for (const reference::Range run : judged.runs())
      finish(judged(run, inputs.q.device()).sigma.dq);
  state.counters["FLOP/s"] = {flops(test), benchmark::Counter::kIsIterationInvariantRate};
}

// How tiles are cut on a GPU: rows of a tile, over all heads that share its keys, its keys, and runs of heads
// that are under way at a time.
struct Cut {
  int64_t rows, columns;
  size_t together;
};

// The same as judge() on one GPU.
void judge_cut(benchmark::State& state, const parity::Case& test, const Cut& cut) {
  const reference::Inputs inputs = inputs_of(test);
  const std::vector<at::Device> devices(cut.together, inputs.q.device());
  reference::Tiling tiling =
      reference::tiling_for(inputs, static_cast<int64_t>(cut.together));
  const int64_t rows = cut.rows * test.kv_heads / test.q_heads;
  const auto keys = [&](int64_t columns) { return std::min(columns, test.seq); };
  tiling.together = tiling.together / tiling.rows * rows / keys(tiling.columns) * keys(cut.columns);
  tiling.rows = rows;
  tiling.columns = cut.columns;
  const reference::Judge judged(inputs, parity::contract_of(test), test.world,
                                parity::reference_rope(test), tiling);
  const std::vector<reference::Range> runs = judged.runs();
  for (auto _ : state)
    parity::on_devices(devices, static_cast<int64_t>(runs.size()),
                       [&](int64_t i, at::Device device) {
                         finish(judged(runs[i], device).sigma.dq);
                       });
  state.counters["runs"] = static_cast<double>(runs.size());
  state.counters["FLOP/s"] = {flops(test), benchmark::Counter::kIsIterationInvariantRate};
}

void add_cut(std::vector<Benchmark>& list, parity::Case test, const Cut& cut) {
  test.device = "cuda";
  const auto number = [](const char* name, int64_t value) { return name + std::to_string(value); };
  list.push_back({"reference/cut/cuda" + number("/hq", test.q_heads) + number("/hkv", test.kv_heads) +
                      number("/s", test.seq) + "/d128" + number("/rows", cut.rows) +
                      number("/columns", cut.columns) + number("/together", static_cast<int64_t>(cut.together)),
                  [=](benchmark::State& state) { judge_cut(state, test, cut); }});
}

void add_cuts(std::vector<Benchmark>& list) {
  constexpr int64_t kAll = 1 << 15;
  parity::Case test = shape(8192, 128);
  test.q_heads = 32;
  for (test.kv_heads = 8; test.kv_heads <= 32; test.kv_heads *= 4)
    for (const Cut cut : {Cut{256, kAll, 1}, {512, kAll, 1}, {1024, kAll, 1}, {2048, kAll, 1}, {512, kAll, 2},
                          {1024, kAll, 2}, {1024, kAll, 4}})
      add_cut(list, test, cut);
  struct Long { int64_t seq, q_heads, kv_heads; };
  for (const auto& [seq, q_heads, kv_heads] : {Long{32768, 8, 8}, {131072, 4, 1}}) {
    test.seq = seq;
    test.q_heads = q_heads;
    test.kv_heads = kv_heads;
    for (const Cut cut : {Cut{1024, kAll, 1}, {2048, kAll, 1}, {2048, kAll / 2, 1}, {4096, kAll / 2, 1},
                          {4096, kAll / 4, 1}, {8192, kAll / 4, 1}})
      add_cut(list, test, cut);
  }
}

// Eight heads, and all 32 of a shape that is trained.
void add_gpu(std::vector<Benchmark>& list) {
  struct Size { int64_t seq, heads, kv_heads; };
  for (const auto& [seq, heads, kv_heads] :
       {Size{8192, 8, 8}, {8192, 32, 8}, {8192, 32, 32}, {32768, 8, 8}}) {
    parity::Case test = shape(seq, 128);
    test.device = "cuda";
    test.q_heads = heads;
    test.kv_heads = kv_heads;
    const std::string grouped = kv_heads == heads ? "" : "/hkv" + std::to_string(kv_heads);
    const std::string size =
        "cuda/hq" + std::to_string(heads) + grouped + "/s" + std::to_string(seq) + "/d128";
    using Body = void (*)(benchmark::State&, const parity::Case&);
    for (const auto& [name, body] : std::initializer_list<std::pair<const char*, Body>>{
             {"attention", attention}, {"judge", judge}})
      list.push_back({std::string("reference/") + name + "/" + size,
                      [test, body = body](benchmark::State& state) { body(state, test); }});
  }
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
  if (why_no_cuda()) return;
  add_gpu(list);
  add_cuts(list);
}

const Sweeps::Add registered{"reference", add};

}  // namespace
}  // namespace ringcheck::bench
