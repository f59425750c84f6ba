// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/core/StreamGuard.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "cp/device/await.h"
#include "cp/device/range.h"
#include "cp/worlds/cuda/copy_pieces.h"
#include "cp/worlds/cuda/gpu_transport.h"
#include "cp/worlds/cuda/ipc_link.h"
#include "cp/worlds/session.h"

namespace ringcheck {
namespace {

using Clock = std::chrono::steady_clock;

// Ranks that are processes of one host, on GPUs that they may share. Messages are copied by copy
// engines, on streams beside the computation.
class IpcCommunicator final : public GpuTransport {
 public:
  IpcCommunicator(std::unique_ptr<Communicator> host, Group group, std::shared_ptr<IpcLink> link,
                  int64_t world)
      : GpuTransport(std::move(host), std::move(group)), link_(std::move(link)), world_(world) {}
  ~IpcCommunicator() override {
    for (const auto& [peer, slots] : slots_) link_->give_back(peer, slots);
    link_->forget_graphs(world_, group().id);
  }

  bool capturable() const override { return true; }

  // Everything that was posted is done, and the device has finished what was queued on it.
  void finish() override {
    GpuTransport::finish();
    for (auto* last_of : {&last_received_, &last_sent_}) {
      for (const auto& [peer, last] : *last_of) {
        ledger().enter(last.operation);
        await(last.moment, deadline());
      }
      last_of->clear();
    }
    ledger().enter({"finish"});
    await(Moment::now(device()), deadline());
    link_->tell_freed();
  }

  std::unique_ptr<Communicator> over(Group group) override {
    std::unique_ptr<Communicator> beside = host().over(group);
    return std::make_unique<IpcCommunicator>(std::move(beside), std::move(group), link_, world_);
  }

 private:
  struct Send {
    Half half;
    std::shared_ptr<IpcLink::Outgoing> message;
  };
  struct Receive {
    Half half;
    IpcLink::Id id;
    std::shared_ptr<IpcLink::Incoming> message;
  };
  struct Flight {
    std::vector<Send> sends;
    std::vector<Receive> receives;
    Instant begin;  // every receive buffer is free
    int64_t kept = 0;  // by a graph, as IpcLink counts
    Moment told = {};  // of a graph: peers know of the free buffers
    bool queued = false;
    Moment landed = {};
  };
  // The last thing that the device is to do with a peer.
  struct Last {
    Operation operation;
    Moment moment;
  };

  InFlight post(Posting posting) override {
    const Range range({posting.label.name, posting.label.step});
    delay();
    const auto flight = std::make_shared<Flight>();
    if (const auto graph = graph_that_is_made()) flight->kept = link_->next_kept(*graph);
    flight->begin = ledger().now();
    const Moment here = flight->begin.moment ? flight->begin.moment : Moment::now(device());
    std::set<int> invited;
    std::map<int, int> expected, left;  // to receive, to send, by peer
    for (const Half& half : posting.receives) ++expected[half.peer];
    for (const Half& half : posting.sends) ++left[half.peer];
    std::vector<std::pair<IpcLink::Id, std::shared_ptr<IpcLink::Incoming>>> incoming;
    for (Half& half : posting.receives) {
      const bool first = invited.insert(half.peer).second, last = --expected[half.peer] == 0;
      const IpcLink::Id id = id_of(half, received_);
      incoming.emplace_back(id, std::make_shared<IpcLink::Incoming>(IpcLink::Incoming{
                                    half.data, pieces_of(half.data, half.in_pieces), first, last, flight->kept > 0}));
      flight->receives.push_back({std::move(half), id, incoming.back().second});
    }
    if (!incoming.empty()) flight->told = link_->receive(incoming, here);
    for (const auto& [id, message] : incoming)
      if (message->kept && message->first) slots_[id.peer].push_back(message->slot);
    for (Half& half : posting.sends) {
      const bool last = --left[half.peer] == 0;
      send(*flight, std::move(half), here, last);
    }
    link_->progress();
    return {[this, flight] { wait(*flight); }};
  }

  std::optional<uint64_t> graph_that_is_made() const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long id = 0;  // as CUDA has it
    C10_CUDA_CHECK(cudaStreamGetCaptureInfo(c10::cuda::getCurrentCUDAStream(device().index()), &status, &id));
    return status == cudaStreamCaptureStatusActive ? std::optional<uint64_t>(id) : std::nullopt;
  }

  void send(Flight& flight, Half half, const Moment& here, bool last) {
    // By then this communicator may be gone, its delays with it.
    const auto copy = [this, alive = std::weak_ptr(alive_), ledger = shared_ledger(),
                       data = half.data, in_pieces = half.in_pieces, entry = half.entry](void* to, const Pieces& there) {
      if (!alive.expired()) delay();
      const Instant begin = ledger->now();
      copy_pieces(to, there, data.const_data_ptr(), pieces_of(data, in_pieces), c10::cuda::getCurrentCUDAStream(data.get_device()));
      ledger->complete(entry, begin, ledger->now());
    };
    auto message = std::make_shared<IpcLink::Outgoing>(IpcLink::Outgoing{half.data, here, copy, last, flight.kept, flight.told});
    link_->send(id_of(half, sent_), message);
    flight.sends.push_back({std::move(half), std::move(message)});
  }

  static std::vector<IpcLink::Id> ids_of(const std::vector<Receive>& receives) {
    std::vector<IpcLink::Id> ids;
    for (const Receive& receive : receives) ids.push_back(receive.id);
    return ids;
  }

  IpcLink::Id id_of(const Half& half, std::map<int, int64_t>& tickets) const {
    return {world_rank(half.peer), world_, group().id, tickets[half.peer]++};
  }

  // For the hosts of the peers: then every copy is queued. The current stream waits for the copies.
  // What peers wait for comes first: what this rank gets may be wrong, and end it.
  void wait(Flight& flight) {
    if (!flight.queued) {
      for (const Send& send : flight.sends)
        await_peer(send.half, send.message->queued, "the peer did not take the message");
      for (const Receive& receive : flight.receives) take(receive);
      if (!flight.sends.empty()) await_told(flight.sends.back().half);
      land(flight);
    }
    flight.landed.hold_back(device());
    for (const Send& send : flight.sends) send.message->copied.hold_back(device());
    flight.told.hold_back(device());
    for (Send& send : flight.sends) send.half.data = send.message->data = at::Tensor();
  }

  void take(const Receive& receive) {
    const IpcLink::Incoming& message = *receive.message;
    await_peer(receive.half, message.announced, "nothing arrived");
    const auto bytes = static_cast<int64_t>(receive.half.data.nbytes());
    if (message.bytes != bytes || message.dtype != receive.half.data.scalar_type())
      throw std::runtime_error("expected " + std::to_string(bytes) + " bytes, the peer sent " +
                               std::to_string(message.bytes));
  }

  // Where the computation does not wait, so that the times are those of the messages.
  void land(Flight& flight) {
    if (!flight.receives.empty()) {
      const c10::StreamGuard arrivals(link_->arrivals());
      flight.told.hold_back(device());  // of a graph, which the stream joins here
      if (flight.kept > 0)
        for (const Send& send : flight.sends) send.message->copied.hold_back(device());
      delay();
      if (flight.kept > 0) link_->hold_back(ids_of(flight.receives));  // which have no times
      for (const Receive& receive : flight.receives) {
        if (flight.kept == 0) link_->hold_back({receive.id});
        ledger().complete(receive.half.entry, flight.begin, ledger().now());
      }
      flight.landed = Moment::now(device());
    }
    flight.queued = true;
    if (flight.kept > 0) return flight.receives.clear();  // its graph takes it: it is done whenever that is
    for (const Receive& receive : flight.receives)
      last_received_[receive.half.peer] = {receive.half.operation, flight.landed};
    for (const Send& send : flight.sends)
      last_sent_[send.half.peer] = {send.half.operation, send.message->copied};
    flight.receives.clear();
  }

  // Whom this rank wrote, has it: after this it may be busy with something else.
  void await_told(const Half& last) {
    const auto begin = Clock::now();
    for (; !link_->all_told(); link_->progress()) {
      ledger().enter(last.operation);
      const auto waited = Clock::now() - begin;
      if (waited > deadline()) throw late("the peer does not read its letters");
      rest(waited);
    }
  }

  void await_peer(const Half& half, const bool& done, const char* otherwise) {
    ledger().enter(half.operation);
    const auto begin = Clock::now();
    for (link_->progress(); !done; link_->progress()) {
      const auto waited = Clock::now() - begin;
      if (waited > deadline()) throw late(otherwise);
      rest(waited);
    }
  }

  std::shared_ptr<IpcLink> link_;
  int64_t world_;
  std::map<int, int64_t> sent_, received_;
  std::map<int, std::vector<int64_t>> slots_;  // of the flags of what graphs hold, by world rank
  std::map<int, Last> last_received_, last_sent_;  // by peer
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// One link for all worlds of a job: memory is mapped once.
class IpcSession final : public Session {
 public:
  IpcSession(Session& host, int local_rank)
      : host_(host),
        gpu_(device_of_rank(at::kCUDA, std::max(0, local_rank))),
        scope_(gpu_),
        link_(IpcLink::meet(*host.world(kTimeToMeet), gpu_)) {}

  int rank() const override { return host_.rank(); }
  int size() const override { return host_.size(); }
  void end_all(int code) override { host_.abort(code); }

  std::unique_ptr<Communicator> world(std::chrono::milliseconds deadline) override {
    std::unique_ptr<Communicator> host = host_.world(deadline);
    Group group = host->group();
    group.device = gpu_;
    return std::make_unique<IpcCommunicator>(std::move(host), std::move(group), link_, worlds_++);
  }

 private:
  Session& host_;
  at::Device gpu_;
  OnDevice scope_;
  std::shared_ptr<IpcLink> link_;
  int64_t worlds_ = 0;
};

std::unique_ptr<Session> ipc_session(Session& host, int local_rank) {
  return std::make_unique<IpcSession>(host, local_rank);
}

const GpuWorlds::Add registered{"ipc", {ipc_session}};

}  // namespace
}  // namespace ringcheck
