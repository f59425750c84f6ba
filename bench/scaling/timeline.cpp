// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/scaling/timeline.h"

#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>

namespace ringcheck::bench {
namespace {

namespace profiler = torch::autograd::profiler;

enum What { kAttention, kTransfer, kOther };

// A name that has one of the words is that of such a kernel or copy: cuDNN's (..._sdpa_...), FlashAttention's, our own;
// copies between devices, and the kernels of NCCL.
constexpr std::array kOfAttention{"sdpa", "flash", "fmha", "forward_kernel", "dq_kernel", "dkv_kernel"};
constexpr std::array kOfTransfers{"PtoP", "nccl"};

What what_of(std::string_view name) {
  const auto is_in = [&](const char* word) { return name.find(word) != std::string_view::npos; };
  if (std::ranges::any_of(kOfTransfers, is_in)) return kTransfer;
  return std::ranges::any_of(kOfAttention, is_in) ? kAttention : kOther;
}

// How many of what are under way changes.
struct Change {
  What what;
  int by;
};

// A copy between devices is said to be of the one that makes it, and may be for any other one of the process: where it has
// more than two devices, they are not told apart.
Timeline timeline_of(const std::vector<profiler::KinetoEvent>& events, int device) {
  std::multimap<uint64_t, Change> changes;  // by nanoseconds
  uint64_t begin = std::numeric_limits<uint64_t>::max(), end = 0;
  for (const profiler::KinetoEvent& event : events) {
    if (event.deviceType() != c10::DeviceType::CUDA || event.durationNs() == 0) continue;
    begin = std::min(begin, event.startNs());
    end = std::max(end, event.endNs());
    const What what = what_of(event.name());
    if (event.deviceIndex() != device && what != kTransfer) continue;
    changes.insert({event.startNs(), {what, 1}});
    changes.insert({event.endNs(), {what, -1}});
  }
  Timeline line;
  if (end == 0) return line;
  changes.insert({end, {kOther, 0}});
  std::array<int, 3> under_way{};
  uint64_t before = begin;
  for (const auto& [now, change] : changes) {
    double& share = under_way[kAttention] > 0  ? line.attention
                    : under_way[kTransfer] > 0 ? line.transfers
                    : under_way[kOther] > 0    ? line.others
                                               : line.idle;
    share += 1e-9 * static_cast<double>(now - before);
    under_way[change.what] += change.by;
    before = now;
  }
  line.seconds = 1e-9 * static_cast<double>(end - begin);
  return line;
}

void begin() {
  using torch::profiler::impl::ActivityType;
  const torch::profiler::impl::ProfilerConfig how(torch::profiler::impl::ProfilerState::KINETO);
  profiler::prepareProfiler(how, {ActivityType::CUDA});
  profiler::enableProfiler(how, {ActivityType::CUDA});
}

}  // namespace

Timeline timeline_of(Communicator& comm, bool records, const std::function<void()>& pass, const std::string& file) {
  Timeline own;
  for (const bool kept : {false, true}) {  // the first recording makes what it needs
    if (records) begin();
    comm.agree_max(int64_t{0});
    pass();
    comm.finish();
    comm.agree_max(int64_t{0});
    if (!records) continue;
    const auto recorded = profiler::disableProfiler();
    if (!kept) continue;
    recorded->save(file);
    own = timeline_of(recorded->events(), comm.device().index());
  }
  const bool longest = comm.agree_max(own.seconds) == own.seconds;
  const auto of_longest = [&](double seconds) { return comm.agree_max(longest ? seconds : 0); };
  return {of_longest(own.seconds), of_longest(own.attention), of_longest(own.transfers), of_longest(own.others),
          of_longest(own.idle)};
}

}  // namespace ringcheck::bench
