// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/scaling/timing.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>

#include "bench/scaling/samples.h"
#include "cp/attention/graphed.h"
#include "parity/case/devices/on_device.h"
#include "parity/subject/ours.h"
#include "reports/median.h"

namespace ringcheck::bench {
namespace {

constexpr double kLong = 2;  // seconds of a pass

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Where a device has such an allocator.
c10::DeviceAllocator* allocator_of(at::Device device) {
  return device.is_cpu() ? nullptr : c10::getDeviceAllocator(device.type());
}

std::optional<int64_t> peak_of(at::Device device) {
  using c10::CachingAllocator::StatType;
  c10::DeviceAllocator* allocator = allocator_of(device);
  if (allocator == nullptr) return std::nullopt;
  const auto stats = allocator->getDeviceStats(device.index());
  return stats.allocated_bytes[static_cast<size_t>(StatType::AGGREGATE)].peak;
}

struct Took {
  double seconds = 0, processor = 0;  // of the slowest rank
};

// Into files that begin so: a forward pass, and both.
void trace(Communicator& comm, const parity::Case& test, const std::string& begin, const std::function<void(bool both)>& pass,
           Timing& timing) {
  if (begin.empty()) return;
  const bool threads = test.world_kind == "thread";
  const std::string end = (threads ? "" : "_rank" + std::to_string(comm.rank())) + ".json";
  const auto traced = [&](bool both, const char* name) {
    return timeline_of(comm, !threads || comm.rank() == 0, [&] { pass(both); }, begin + name + end);
  };
  const Timeline forward = traced(false, "_forward"), both = traced(true, "_both");
  if (threads && comm.size() > 2) return;  // what goes from GPU to GPU may be of two others
  timing.forward_timeline = forward;
  timing.timeline = both;
}

// From when every rank is there until the last one is done, on its device, too.
Took timed_pass(Communicator& comm, ContextParallel& attention, const parity::Problem& local,
                bool recorded, bool both = true) {
  Ledger& ledger = comm.ledger();
  ledger.restart();
  ledger.record(recorded);
  comm.agree_max(int64_t{0});
  const double begin = ledger.host_seconds(), processor = processor_seconds();
  auto context = attention.forward(local.q, local.k, local.v);
  if (both) attention.backward(context, local.d_o);
  comm.finish();
  const Took own{ledger.host_seconds() - begin, processor_seconds() - processor};
  ledger.record(true);
  return {comm.agree_max(own.seconds), comm.agree_max(own.processor)};
}

Timing time_calls(Communicator& comm, ContextParallel& attention, const parity::Problem& local, const parity::Case& test,
                  const Timed& how) {
  const bool is_long = timed_pass(comm, attention, local, true).seconds > kLong;
  if (!is_long) timed_pass(comm, attention, local, true);
  if (auto* allocator = allocator_of(comm.device())) allocator->resetPeakStats(comm.device().index());
  Samples samples(comm, how.pairs);
  Timing timing;
  timing.forward_seconds = samples.of([&](int) { return timed_pass(comm, attention, local, true, false).seconds; });
  const auto pairs = samples.of([&](int i) {
    std::array<Took, 2> took;  // without the ledger, and with it
    if (is_long) took[1] = timed_pass(comm, attention, local, true);
    else
      for (const int turn : {i % 2, 1 - i % 2}) took[turn] = timed_pass(comm, attention, local, turn == 1);
    return took;
  });
  const auto cost = comm.device().is_cpu() ? &Took::processor : &Took::seconds;
  for (const auto& [without, with] : pairs) {
    timing.seconds.push_back(with.seconds);
    if (!is_long) timing.ledger_shares.push_back((with.*cost - without.*cost) / (without.*cost));
  }
  timing.thrown_away = samples.thrown_away();
  const double last = is_long ? timing.seconds.back() : timed_pass(comm, attention, local, true).seconds;
  timing.peak_bytes = peak_of(comm.device());
  if (timing.peak_bytes) timing.peak_bytes = comm.agree_max(*timing.peak_bytes);
  const Seconds first = comm.ledger().seconds(Phase::kForward);
  const Seconds second = comm.ledger().seconds(Phase::kBackward);
  timing.exposed_share = comm.agree_max((first.exposed + second.exposed) / last);
  timing.attention_share = comm.agree_max((first.attention + second.attention) / last);
  trace(comm, test, how.trace, [&](bool both) {
    auto context = attention.forward(local.q, local.k, local.v);
    if (both) attention.backward(context, local.d_o);
    comm.finish();
  }, timing);
  return timing;
}

// From when every rank is there until the last one is done.
double timed_replay(Communicator& comm, Graphed& graphs, bool both) {
  comm.agree_max(int64_t{0});
  const double begin = comm.ledger().host_seconds();
  graphs.forward();
  if (both) graphs.backward();
  comm.finish();
  return comm.agree_max(comm.ledger().host_seconds() - begin);
}

Timing time_replays(Communicator& comm, ContextParallel& attention, const parity::Problem& local, const parity::Case& test,
                    const Timed& how) {
  Graphed graphs(attention, local.q, local.k, local.v, local.d_o);
  for (int i = 0; i < 2; ++i) timed_replay(comm, graphs, true);
  Timing timing;
  Samples samples(comm, how.pairs);
  timing.forward_seconds = samples.of([&](int) { return timed_replay(comm, graphs, false); });
  timing.seconds = samples.of([&](int) { return timed_replay(comm, graphs, true); });
  timing.thrown_away = samples.thrown_away();
  trace(comm, test, how.trace, [&](bool both) {
    graphs.forward();
    if (both) graphs.backward();
  }, timing);
  return timing;
}

std::optional<double> link_bytes(Communicator& comm) {
  if (comm.size() == 1) return std::nullopt;
  constexpr int kTimes = 5;
  const int64_t bytes = int64_t{1} << (comm.device().is_cpu() ? 24 : 28);
  const at::Tensor send = at::zeros({bytes}, at::TensorOptions(at::kByte).device(comm.device())), receive = at::empty_like(send);
  double best = 0;
  for (int i = 0; i < kTimes; ++i) {
    comm.finish();
    comm.agree_max(int64_t{0});
    const double begin = comm.ledger().host_seconds();
    comm.exchange(send, comm.right(), receive, comm.left(), {"measure the link"}).wait();
    comm.finish();
    best = std::max(best, static_cast<double>(bytes) / comm.agree_max(comm.ledger().host_seconds() - begin));
  }
  return best;
}

}  // namespace

Timing time_passes(Communicator& comm, const parity::Case& test, const Timed& how) {
  const Positions own = parity::layout_of(test).queries.at(comm.rank());
  const parity::Problem local = parity::problem_on(comm.device(), test, own);
  ContextParallel attention(comm, parity::options_of(test));
  const std::optional<double> link = link_bytes(comm);
  Timing timing = (how.launch == Launch::kGraph ? time_replays : time_calls)(comm, attention, local, test, how);
  timing.link_bytes = link;
  return timing;
}

parity::Case alone(const parity::Case& test, int64_t groups) {
  parity::Case one = test;
  one.world = 1;
  if (groups > 0) {
    one.kv_heads = groups;
    one.q_heads = test.q_heads / test.kv_heads * groups;
  }
  return one;
}

Alone time_alone(Communicator& comm, const parity::Case& test, const Timed& how) {
  const parity::Case one = alone(test, how.groups_alone);
  const auto self = comm.split(comm.rank(), 0);
  Timing own;
  Timed untraced = how;
  untraced.trace.clear();
  if (comm.rank() == 0 || !comm.device().is_cpu()) own = time_passes(*self, one, untraced);
  for (auto* samples : {&own.seconds, &own.forward_seconds})
    for (double& seconds : *samples) seconds *= static_cast<double>(test.kv_heads) / static_cast<double>(one.kv_heads);
  const auto slowest = [&](const std::vector<double>& samples) {
    return comm.agree_max(samples.empty() ? 0 : reports::median(samples));
  };
  const double seconds = slowest(own.seconds), forward = slowest(own.forward_seconds);
  return {std::move(own), seconds, forward};
}

}  // namespace ringcheck::bench
