// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "parity/subject/calls.h"

#include <ATen/ATen.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cp/ledger/bypass.h"
#include "cp/ledger/memory.h"

namespace ringcheck::parity {
namespace {

// A rank's allocations, told to a meter and to whoever counts around it.
class ToldTwice final : public c10::MemoryReportingInfoBase {
 public:
  explicit ToldTwice(std::shared_ptr<MemoryMeter> meter)
      : meter_(std::move(meter)),
        around_(static_cast<c10::MemoryReportingInfoBase*>(
            c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PROFILER_STATE))) {}
  void reportMemoryUsage(void* pointer, int64_t bytes, size_t allocated, size_t reserved,
                         c10::Device device) override {
    meter_->reportMemoryUsage(pointer, bytes, allocated, reserved, device);
    if (around_) around_->reportMemoryUsage(pointer, bytes, allocated, reserved, device);
  }
  bool memoryProfilingEnabled() const override { return true; }

 private:
  std::shared_ptr<MemoryMeter> meter_;
  c10::MemoryReportingInfoBase* around_;
};

std::vector<int> world_ranks(const Communicator& comm) {
  std::vector<int> ranks;
  for (int rank = 0; rank < comm.size(); ++rank) ranks.push_back(comm.world_rank(rank));
  return ranks;
}

// By rank of the communicator; peers that are none of its ranks are left out.
void enter_peers(const Communicator& comm, const Traffic& traffic, RankRecord& record) {
  record.sent_to.resize(comm.size());
  record.received_from.resize(comm.size());
  for (int rank = 0; rank < comm.size(); ++rank)
    if (const auto peer = traffic.peers.find(comm.world_rank(rank)); peer != traffic.peers.end()) {
      record.sent_to[rank] = peer->second.sent;
      record.received_from[rank] = peer->second.received;
    }
}

std::vector<std::string> unwaited(const Ledger& ledger) {
  std::vector<std::string> list;
  for (const auto& [phase, pass] : {std::pair(Phase::kForward, "forward"), {Phase::kBackward, "backward"}})
    for (const Operation& operation : ledger.unwaited(phase))
      list.push_back(std::string(pass) + " '" + describe(operation) + "'");
  return list;
}

RankRecord counted(const Communicator& comm, int64_t kv_heads, const Traffic& traffic,
                   const MemoryMeter& meter) {
  const Ledger& ledger = comm.ledger();
  RankRecord record;
  record.forward = ledger.sum(Phase::kForward);
  record.backward = ledger.sum(Phase::kBackward);
  record.forward_seconds = ledger.seconds(Phase::kForward);
  record.backward_seconds = ledger.seconds(Phase::kBackward);
  record.forward_heads = ledger.pairs_by_head(Phase::kForward, kv_heads);
  record.backward_heads = ledger.pairs_by_head(Phase::kBackward, kv_heads);
  record.unwaited = unwaited(ledger);
  record.bytes_sent = traffic.bytes_sent;
  record.bytes_received = traffic.bytes_received;
  record.messages = traffic.messages;
  record.forward_stock = ledger.stock(Phase::kForward);
  record.backward_stock = ledger.stock(Phase::kBackward);
  record.peak_bytes = meter.total().peak;
  record.kv_bytes = meter.tagged(MemoryTag::kKv).peak;
  record.traveller_bytes = meter.tagged(MemoryTag::kTraveller).peak;
  enter_peers(comm, traffic, record);
  return record;
}

// What a GPU's matrix library takes for a thread the first time, and keeps, is nobody's.
void meet_libraries(at::Device device) {
  if (device.is_cpu()) return;
  const at::Tensor some = at::ones({2, 8, 8}, at::TensorOptions(device).dtype(at::kFloat));
  at::bmm(some, some);
}

RankOutput one_call(const Run& run, Communicator& world, const Subject& subject,
                    const RankInput& input) {
  Ledger& ledger = world.ledger();
  ledger.restart();
  const Traffic before = ledger.traffic();
  meet_libraries(world.device());
  const std::shared_ptr<MemoryMeter> meter = ledger.memory();
  RankOutput output;
  {
    const c10::DebugInfoGuard metered(c10::DebugInfoKind::PROFILER_STATE,
                                      std::make_shared<ToldTwice>(meter));
    const Witnessed witnessed(ledger, world_ranks(world));
    output = subject.run(world, run.test, input);
  }
  output.record = counted(world, run.test.kv_heads, ledger.traffic().since(before), *meter);
  output.record.peak_bytes = output.peak_elsewhere.value_or(output.record.peak_bytes);
  if (run.timeline) {
    ledger.settle();
    output.record.timeline = timeline_of(ledger);
  }
  return output;
}

// What a rank holds. Its allocator knows, whichever thread takes and gives back, where the process and its
// device are the rank's alone: autograd's thread for a GPU lets go of what nobody tells the meter of.
// Otherwise the meter does, which is told of this thread only.
class Held {
 public:
  Held(const Run& run, at::Device device) : device_(device) {
    if (run.test.world_kind != "thread" && !device.is_cpu()) allocator_ = c10::getDeviceAllocator(device.type());
  }
  int64_t now() const {
    if (allocator_ == nullptr) return meter_->total().now;
    const auto all = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    return allocator_->getDeviceStats(device_.index()).allocated_bytes[all].current;
  }
  // More than `before`: for good, so some time later, too. Where not even O was seen, nothing was.
  int64_t growth(const RankOutput& output, int64_t before) const {
    constexpr int kMoments = 100;
    const auto least = static_cast<int64_t>(output.o.defined() ? output.o.nbytes() : 0);
    if (output.peak_elsewhere || meter_->total().peak < least) return RankRecord::kUnseen;
    const auto grown = [&] { return std::max<int64_t>(0, now() - before); };
    for (int i = 0; i < kMoments && grown() > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return grown();
  }

 private:
  at::Device device_;
  c10::DeviceAllocator* allocator_ = nullptr;
  std::shared_ptr<MemoryMeter> meter_ = std::make_shared<MemoryMeter>();
  Metered metered_{meter_};
};

}  // namespace

RankOutput called(const Run& run, Communicator& world, const Subject& subject,
                  const RankInput& input) {
  if (run.calls == 1) return one_call(run, world, subject, input);
  const Held held(run, world.device());
  RankOutput output;
  int64_t after_second = 0;
  for (int call = 1; call <= run.calls; ++call) {
    output = one_call(run, world, subject, input);
    if (call <= 2) after_second = held.now();
  }
  output.record.grown_bytes = held.growth(output, after_second);
  return output;
}

}  // namespace ringcheck::parity
