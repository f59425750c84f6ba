// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/core/StreamGuard.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAStream.h>
#include <nccl.h>

#include <cstring>
#include <thread>
#include <utility>

#include "cp/device/await.h"
#include "cp/device/cuda_library.h"
#include "cp/device/moment.h"
#include "cp/device/range.h"
#include "cp/layout/moves.h"
#include "cp/worlds/cuda/gpu_transport.h"
#include "cp/worlds/launcher.h"
#include "cp/worlds/session.h"
#include "cp/worlds/share.h"

namespace ringcheck {
namespace {

using Clock = std::chrono::steady_clock;

void check(ncclResult_t status, const char* what) {
  if (status != ncclSuccess && status != ncclInProgress)
    throw std::runtime_error(std::string("NCCL: ") + what + ": " + ncclGetErrorString(status) +
                             " (" + ncclGetLastError(nullptr) + ")");
}

// A non-blocking communicator: whatever it is asked for is polled, and given up at the deadline.
// Aborting needs no peer, so it never hangs.
class NcclHandle {
 public:
  NcclHandle() = default;
  ~NcclHandle() {
    if (comm_ != nullptr) ncclCommAbort(comm_);
  }
  NcclHandle(const NcclHandle&) = delete;
  NcclHandle& operator=(const NcclHandle&) = delete;

  void join(int size, const ncclUniqueId& id, int rank, std::chrono::milliseconds deadline) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    check(ncclCommInitRankConfig(&comm_, size, id, rank, &config), "joining");
    settle("joining", deadline);
  }
  void split(NcclHandle& parent, int color, int key, std::chrono::milliseconds deadline) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    check(ncclCommSplit(parent.comm_, color, key, &comm_, &config), "splitting");
    parent.settle("splitting", deadline);
    settle("splitting", deadline);
  }
  ncclComm_t get() const { return comm_; }

  // Throws where the communicator has failed; false while it is still working.
  bool settled() const {
    ncclResult_t state = ncclSuccess;
    check(ncclCommGetAsyncError(comm_, &state), "asking for errors");
    check(state, "asynchronously");
    return state != ncclInProgress;
  }
  void settle(const char* what, std::chrono::milliseconds deadline) const {
    for (const auto end = Clock::now() + deadline; !settled(); std::this_thread::yield())
      if (Clock::now() > end)
        throw Timeout(std::string("NCCL: ") + what + " took longer than " +
                      std::to_string(deadline.count()) + " ms");
  }

 private:
  ncclComm_t comm_ = nullptr;
};

// A process a rank and a GPU a process. Messages go on a stream of their own, beside the computation.
class NcclCommunicator final : public GpuTransport {
 public:
  NcclCommunicator(std::unique_ptr<Communicator> host, Group group, c10::Stream stream,
                   std::shared_ptr<NcclHandle> nccl)
      : GpuTransport(std::move(host), std::move(group)), stream_(stream), nccl_(std::move(nccl)) {}

  // Everything that was posted is done, and the device has finished what was queued on it.
  void finish() override {
    GpuTransport::finish();
    ledger().enter({"finish"});
    await(Moment::now(device()));
  }

  bool capturable() const override { return true; }

  std::unique_ptr<Communicator> over(Group group) override {
    auto nccl = std::make_shared<NcclHandle>();
    nccl->split(*nccl_, static_cast<int>(group.id), group.rank, deadline());
    std::unique_ptr<Communicator> beside = host().over(group);
    return std::make_unique<NcclCommunicator>(std::move(beside), std::move(group), stream_,
                                              std::move(nccl));
  }

 private:
  // What is in flight: held until the device is done with it.
  struct Flight {
    Posting posting;
    Operation operation;   // its peer is that of the last message to another rank
    Moves before, behind;  // of what is in pieces
    std::vector<at::Tensor> in_pieces = {};
    Moment done;
  };

  InFlight post(Posting posting) override {
    Operation operation{posting.label.name, posting.label.step, -1};
    for (const auto* halves : {&posting.sends, &posting.receives})
      for (const Half& half : *halves)
        if (half.peer != rank()) operation.peer = half.operation.peer;
    const auto flight = std::make_shared<Flight>(Flight{std::move(posting), operation, {}, {}, {}, {}});
    for (auto* halves : {&flight->posting.sends, &flight->posting.receives})
      for (const Half& half : *halves)
        if (half.in_pieces) flight->in_pieces.push_back(half.data);
    for (Half& half : flight->posting.sends) pack(half, flight->before, true);
    for (Half& half : flight->posting.receives) pack(half, flight->behind, false);
    queue(*flight);
    const auto wait = [this, flight] {
      flight->done.hold_back(device());
      flight->posting = {};  // whoever computes next here is behind it
      flight->in_pieces.clear();
    };
    if (c10::cuda::currentStreamCaptureStatusMayInitCtx() != c10::cuda::CaptureStatus::None)
      return {wait};  // a graph takes it: it is done whenever that is
    return {wait, [this, flight] {
              ledger().enter(flight->operation);
              await(flight->done);
              flight->done.hold_back(device());
            },
            [flight] { return flight->done.passed(); }};
  }

  // What is in pieces goes as one: NCCL takes longer for many messages than to copy them.
  void pack(Half& half, Moves& moves, bool sent) {
    if (!std::exchange(half.in_pieces, false) || half.data.is_contiguous()) return;
    const at::Tensor whole = buffer(half.data.numel(), half.data.scalar_type(), MemoryTag::kOther).view(half.data.sizes());
    sent ? moves.add(whole, half.data) : moves.add(half.data, whole);
    half.data = whole;
  }

  // On the stream of the messages, behind what the computation has queued so far.
  void queue(Flight& flight) {
    const Range range(flight.operation);
    delay();
    const Moment ready = Moment::now(device());
    const c10::StreamGuard beside(stream_);
    ready.hold_back(device());
    delay();
    const Instant begin = ledger().now();
    flight.before.make();
    if (const at::Tensor whole = gathered_as_one(flight.posting); whole.defined())
      gather(flight.posting.sends.front().data, whole);
    else
      exchange_all(flight.posting);
    nccl_->settle("posting", deadline());
    delay();  // as of what arrives late: whoever reads it waits until it is in its places
    flight.behind.make();
    const Instant end = ledger().now();
    flight.done = end.moment ? end.moment : Moment::now(device());
    for (const auto* halves : {&flight.posting.sends, &flight.posting.receives})
      for (const Half& half : *halves) ledger().complete(half.entry, begin, end);
  }

  void gather(const at::Tensor& own, const at::Tensor& whole) {
    check(ncclAllGather(own.const_data_ptr(), whole.mutable_data_ptr(), own.nbytes(), ncclUint8,
                        nccl_->get(), c10::cuda::CUDAStream(stream_).stream()),
          "gathering");
  }

  // One group of sends and receives: it is complete when all of them are, in any order.
  void exchange_all(const Posting& posting) {
    const cudaStream_t stream = c10::cuda::CUDAStream(stream_).stream();
    const ncclComm_t comm = nccl_->get();
    check(ncclGroupStart(), "beginning a group");
    try {
      for (const Half& h : posting.sends)
        check(ncclSend(h.data.const_data_ptr(), h.data.nbytes(), ncclUint8, h.peer, comm, stream), "sending");
      for (const Half& h : posting.receives)
        check(ncclRecv(h.data.mutable_data_ptr(), h.data.nbytes(), ncclUint8, h.peer, comm, stream), "receiving");
    } catch (...) {
      ncclGroupEnd();  // what this thread asks of NCCL next is not of the group
      throw;
    }
    check(ncclGroupEnd(), "ending a group");
  }

  void await(const Moment& moment) {
    ringcheck::await(moment, deadline(), [this] { nccl_->settled(); });
  }

  c10::Stream stream_;
  std::shared_ptr<NcclHandle> nccl_;
};

const char* const kHowToHaveOne =
    "; let each process see all GPUs of its host, or one of its own (CUDA_VISIBLE_DEVICES, srun --gpu-bind), "
    "use transport ipc, whose ranks may share one, start fewer ranks, or use world kind thread";

std::optional<std::string> shared_gpu(Communicator& host, int index) {
  cudaDeviceProp own{};
  C10_CUDA_CHECK(cudaGetDeviceProperties(&own, index));
  const auto of_ranks = share(host, own.uuid, {"share gpu"});
  for (size_t rank = 1; rank < of_ranks.size(); ++rank)
    for (size_t other = 0; other < rank; ++other)
      if (std::memcmp(&of_ranks[rank], &of_ranks[other], sizeof own.uuid) == 0)
        return "transport nccl: ranks " + std::to_string(other) + " and " + std::to_string(rank) +
               " have the same GPU" + kHowToHaveOne;
  return std::nullopt;
}

at::Device own_gpu(Session& host, int local_rank) {
  const std::unique_ptr<Communicator> world = host.world(kTimeToMeet);
  const std::optional<int> own = gpu_of_process(local_rank);
  refuse_together(*world, own ? std::nullopt
                              : std::optional("transport nccl: local rank " + std::to_string(local_rank) +
                                              " needs a GPU of its own, found " +
                                              std::to_string(device_count(at::kCUDA)) + kHowToHaveOne));
  refuse_together(*world, shared_gpu(*world, *own));
  return {at::kCUDA, static_cast<at::DeviceIndex>(*own)};
}

// One NCCL communicator for all worlds of a job: joining takes longer than a small case.
class NcclSession final : public Session {
 public:
  NcclSession(Session& host, int local_rank)
      : host_(host), gpu_(own_gpu(host, local_rank)), scope_(gpu_),
        beside_(c10::cuda::getStreamFromPool(true, gpu_.index())) {}

  int rank() const override { return host_.rank(); }
  int size() const override { return host_.size(); }
  void end_all(int code) override { host_.abort(code); }

  std::unique_ptr<Communicator> world(std::chrono::milliseconds deadline) override {
    std::unique_ptr<Communicator> host = host_.world(deadline);
    if (!nccl_) nccl_ = joined(*host);
    Group group = host->group();
    group.device = gpu_;
    return std::make_unique<NcclCommunicator>(std::move(host), std::move(group), beside_, nccl_);
  }

 private:
  static std::shared_ptr<NcclHandle> joined(Communicator& host) {
    ncclUniqueId own{};
    if (host.rank() == 0) check(ncclGetUniqueId(&own), "making an id");
    const ncclUniqueId id = share(host, own, {"share nccl id"}).front();
    auto nccl = std::make_shared<NcclHandle>();
    host.ledger().enter({"join nccl"});
    nccl->join(host.size(), id, host.rank(), host.deadline());
    return nccl;
  }

  Session& host_;
  at::Device gpu_;
  OnDevice scope_;
  c10::Stream beside_;
  std::shared_ptr<NcclHandle> nccl_;
};

std::unique_ptr<Session> nccl_session(Session& host, int local_rank) {
  return std::make_unique<NcclSession>(host, local_rank);
}

const GpuWorlds::Add registered{"nccl", {nccl_session}};

}  // namespace
}  // namespace ringcheck
