// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/case/devices/on_device.h"

#include <ATen/ATen.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "cp/device/moment.h"
#include "cp/layout/upload.h"
#include "parity/case/data/independent.h"
#include "parity/case/data_family.h"

namespace ringcheck::parity {
namespace {

constexpr double kMostOfMemory = 1.0 / 8;  // that inputs take beside the copies of the ranks

std::optional<DeviceNumbers>& registered() {
  static std::optional<DeviceNumbers> numbers;
  return numbers;
}

bool can_make(const std::string& family) {
  return std::apply([&](auto... numbers) { return ((family == numbers.name) || ...); },
                    independent::All());
}

// [slots] int64; -1 where there is no token.
at::Tensor tokens_at(const Mask& mask, const Positions& positions, at::Device device) {
  std::vector<int64_t> tokens = flatten(positions);
  std::ranges::replace_if(tokens, [&](int64_t p) { return !is_token(mask, p); }, int64_t{-1});
  return uploaded(tokens, device);
}

int64_t bytes_of_rank(const Case& test) {
  const int64_t slots = test.batch * (test.seq / test.world + 1);
  return slots * (test.q_heads + test.kv_heads) * (test.dim + test.dim_v) *
         static_cast<int64_t>(c10::elementSize(test.dtype));
}

// The GPUs of a host are alike; threads are dealt to them evenly, and a process has one of its own.
bool leave_room(const Case& test, at::DeviceType gpus) {
  const int devices = std::max(1, device_count(gpus));
  const int ranks = test.world_kind == "thread" ? (test.world + devices - 1) / devices : 1;
  const auto memory = static_cast<double>(c10::getDeviceAllocator(gpus)->getMemoryInfo(0).second);
  return static_cast<double>(ranks * bytes_of_rank(test)) <= kMostOfMemory * memory;
}

}  // namespace

Problem problem_on(at::Device device, const Task& test, const Positions& positions) {
  if (device.is_cpu() || !registered() || !can_make(test.data))
    return problem_of(test, positions).to(device);
  const at::Tensor tokens = tokens_at(mask_of(test), positions, device);
  const auto made = [&](Which which, int64_t heads, int64_t channels) {
    const at::Tensor x = at::empty({test.batch, heads, tokens.numel(), channels},
                                   at::TensorOptions(test.dtype).device(device));
    registered()->fill(test.data, test.seed, which, tokens, x);
    if (!test.lengths.empty()) fill_pads(test, positions, x, std::numeric_limits<double>::quiet_NaN());
    return x;
  };
  return {made(Which::kQ, test.q_heads, test.dim), made(Which::kK, test.kv_heads, test.dim),
          made(Which::kV, test.kv_heads, test.dim_v), made(Which::kDo, test.q_heads, test.dim_v)};
}

Problem MadeOnRank::operator()(const Case& test, const Positions& positions) const {
  const c10::impl::VirtualGuardImpl devices(device_type_of(test));
  return problem_on(devices.getDevice(), test, positions);
}

bool can_be_made_on_ranks(const Case& test) {
  return device_type_of(test) != at::kCPU && can_make(test.data) && leave_room(test, device_type_of(test));
}

std::optional<std::string> inputs_difference(at::Device device, uint64_t seed) {
  const Positions shuffled{{40, 20}, {3, 18, 2}};
  Case test = parse_case("doc[30:33,20]/P2/b2/hq4/hkv2/d24/dv40");
  test.seed = seed;
  for (const auto& [family, entry] : DataFamilies::all())
    for (const at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf}) {
      test.data = family;
      test.dtype = dtype;
      if (entry.refuses(test)) continue;
      const Problem here = problem_of(test, shuffled), there = problem_on(device, test, shuffled);
      for (const auto& [name, tensor] : {std::pair{"q", &Problem::q}, {"k", &Problem::k},
                                         {"v", &Problem::v}, {"do", &Problem::d_o}})
        if (!(there.*tensor).cpu().view(at::kByte).equal((here.*tensor).view(at::kByte)))
          return std::string("the input ") + name + " is another on " + device.str() +
                 " than on the CPU: " + to_text(test);
    }
  return std::nullopt;
}

RegisteredNumbers::RegisteredNumbers(const DeviceNumbers& numbers) { registered() = numbers; }

}  // namespace ringcheck::parity
