// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/thread_world.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "cp/device/await.h"
#include "cp/error.h"
#include "cp/words.h"
#include "cp/device/kept_threads.h"
#include "cp/device/lane.h"
#include "cp/device/moment.h"
#include "cp/worlds/peer_copy.h"
#include "cp/worlds/post_office.h"
#include "cp/worlds/transport.h"
#include "cp/device/range.h"

namespace ringcheck {
namespace {


void poison(const at::Tensor& buffer) {
  if (buffer.is_floating_point()) buffer.fill_(std::numeric_limits<double>::quiet_NaN());
  else buffer.fill_(-1);
}

class ThreadCommunicator final : public Transport {
 public:
  ThreadCommunicator(std::shared_ptr<PostOffice> office, Group group,
                     std::shared_ptr<Ledger> ledger, std::chrono::milliseconds deadline, bool fills)
      : Transport(std::move(group), std::move(ledger), deadline), office_(std::move(office)), fills_(fills) {
    if (!device().is_cpu())  // none of those that ranks compute on
      copies_ = c10::impl::VirtualGuardImpl(device().type())
                    .getStreamFromGlobalPool(device(), /*isHighPriority=*/true);
  }

  void finish() override {
    Transport::finish();
    ringcheck::await(Moment::now(device()), deadline());  // all that this rank queued is done
    if (!copies_) return;
    // A message that another stream waits for may still be written into a buffer that is free by now.
    const c10::StreamGuard copies(*copies_);
    ringcheck::await(Moment::now(device()), deadline());
  }

  std::unique_ptr<Communicator> over(Group group) override {
    return std::make_unique<ThreadCommunicator>(office_, std::move(group), shared_ledger(),
                                                deadline(), fills_);
  }

 private:
  // A message, and where it waits for its receiver.
  struct Letter : Half {
    Address address = {};
    std::shared_ptr<Parcel> parcel = {};  // null once done
  };
  struct Letters {
    std::vector<Letter> sends, receives;
    Moment free = {};  // the buffers of the receives may be written
  };

  InFlight post(Posting posting) override {
    delay();
    auto posted = std::make_shared<Letters>();
    const Moment ready = posting.sends.empty() ? Moment() : Moment::now(device());
    for (Half& half : posting.sends) posted->sends.push_back(post_send(std::move(half), ready));
    for (Half& half : posting.receives) posted->receives.push_back(post_receive(std::move(half)));
    if (!posted->receives.empty()) posted->free = Moment::now(device());
    return {[this, posted] {
      take(*posted);
      for (Letter& send : posted->sends) await_taken(send);
    }};
  }

  Letter letter(Half half, int from, int to, std::map<int, int64_t>& tickets) {
    const Address address{group().id, world_rank(from), world_rank(to), tickets[half.peer]++};
    return {std::move(half), address, office_->at(address)};
  }

  Letter post_send(Half half, const Moment& ready) {
    const int to = half.peer;
    Letter send = letter(std::move(half), rank(), to, sent_);
    office_->change(*send.parcel, [&] {
      send.parcel->data = send.data;
      send.parcel->ready = ready;
      send.parcel->posted = true;
    });
    return send;
  }

  Letter post_receive(Half half) {
    const int from = half.peer;
    Letter receive = letter(std::move(half), from, rank(), received_);
    if (fills_) poison(receive.data);
    return receive;
  }

  // All messages of a posting, when all of them are there.
  void take(Letters& posted) {
    for (const Letter& receive : posted.receives) {
      if (!receive.parcel) continue;
      await(receive, [&] { return receive.parcel->posted.load(); }, "nothing arrived");
      const at::Tensor& sent = receive.parcel->data;
      if (sent.nbytes() != receive.data.nbytes() || sent.scalar_type() != receive.data.scalar_type())
        throw std::runtime_error("expected " + std::to_string(receive.data.nbytes()) +
                                 " bytes, the peer sent " + std::to_string(sent.nbytes()));
    }
    const Moment copied = copy(posted);
    for (Letter& receive : posted.receives) {
      if (!receive.parcel) continue;
      office_->change(*receive.parcel, [&] {
        receive.parcel->copied = copied;
        receive.parcel->taken = true;
      });
      receive.parcel.reset();
    }
  }

  // Beside the computation, once the messages are complete and their buffers free.
  Moment copy(const Letters& posted) {
    std::vector<const Letter*> on_device;
    for (const Letter& receive : posted.receives) {
      if (!receive.parcel) continue;
      if (receive.data.is_cpu()) copy_on_host(receive);
      else on_device.push_back(&receive);
    }
    if (on_device.empty()) return {};
    Moment copied;
    {
      const c10::StreamGuard beside(*copies_);
      posted.free.hold_back(device());
      while (!on_device.empty()) {
        const int peer = on_device.front()->peer;
        const auto others = std::ranges::stable_partition(
            on_device, [&](const Letter* letter) { return letter->peer == peer; });
        copy_on_device({on_device.begin(), others.begin()});
        on_device.erase(on_device.begin(), others.begin());
      }
      copied = Moment::now(device());
    }
    copied.hold_back(device());
    return copied;
  }

  void copy_on_host(const Letter& receive) {
    const Range range(receive.operation);
    delay();
    receive.data.copy_(receive.parcel->data.view_as(receive.data));
    ledger().complete(receive.entry);
  }

  // Messages of one peer, one behind the other.
  void copy_on_device(const std::vector<const Letter*>& letters) {
    const Range range(letters.front()->operation);
    for (const Letter* letter : letters) letter->parcel->ready.hold_back(device());
    delay();
    const Instant begin = ledger().now();
    if (!pushed(letters))
      for (const Letter* letter : letters)
        letter->data.copy_(letter->parcel->data.view_as(letter->data), true);
    const Instant end = ledger().now();
    for (const Letter* letter : letters) ledger().complete(letter->entry, begin, end);
  }

  // By the device that they come from, where it is another one that reaches this one's memory.
  bool pushed(const std::vector<const Letter*>& letters) {
    const at::Device from = letters.front()->parcel->data.device();
    const auto copies = PeerCopies::all().find(c10::DeviceTypeName(device().type(), true));
    if (from == device() || copies == PeerCopies::all().end()) return false;
    auto stream = pushes_.find(from.index());
    if (stream == pushes_.end())
      stream = pushes_.emplace(from.index(), c10::impl::VirtualGuardImpl(from.type())
                                                 .getStreamFromGlobalPool(from, true)).first;
    const Moment begin = Moment::now(device());
    Moment end;
    {
      const c10::StreamGuard there(stream->second);
      begin.hold_back(from);
      for (const Letter* letter : letters)
        if (!copies->second(letter->data, letter->parcel->data, letter->in_pieces)) return false;
      end = Moment::now(from);
    }
    end.hold_back(device());
    return true;
  }

  // The sender drops its tensor itself, so that the free is booked on its own rank.
  void await_taken(Letter& send) {
    if (!send.parcel) return;
    await(send, [&] { return send.parcel->taken.load(); }, "the peer did not take the message");
    send.parcel->copied.hold_back(send.data.device());
    if (send.data.is_cpu()) ledger().complete(send.entry);
    send.parcel->data.reset();
    send.parcel.reset();
    office_->forget(send.address);
    send.data.reset();
  }

  void await(const Letter& letter, const std::function<bool()>& what, const char* otherwise) {
    ledger().enter(letter.operation);
    if (!office_->await(*letter.parcel, deadline(), what, device().is_cpu() ? std::chrono::milliseconds(0) : awake())) throw late(otherwise);
  }

  std::shared_ptr<PostOffice> office_;
  bool fills_;
  std::optional<c10::Stream> copies_;  // where the device has streams
  std::map<c10::DeviceIndex, c10::Stream> pushes_;  // on other devices
  std::map<int, int64_t> sent_, received_;
};

void run_rank(const std::shared_ptr<PostOffice>& office, const ThreadWorld& world, int rank,
              const std::function<void(Communicator&)>& body) {
  at::set_num_threads(1);
  Group everybody = Group::everybody(world.size, rank);
  everybody.device = device_of_rank(world.device, world.first_device + rank);
  auto ledger = std::make_shared<Ledger>();
  if (world.observer)
    ledger->observe([&, rank](const Operation& operation) { world.observer(rank, operation); });
  try {
    const OnLane scope(everybody.device, rank);
    ThreadCommunicator comm(office, everybody, ledger, world.deadline, world.fills);
    body(comm);
    comm.finish();
  } catch (const Abandoned&) {
  } catch (const Timeout& error) {
    office->fail({rank, ledger->current(), true, error.what()});
  } catch (const std::exception& error) {
    office->fail({rank, ledger->current(), false, words_of(error)});
  }
}

}  // namespace

void run(const ThreadWorld& world, const std::function<void(Communicator&)>& body) {
  const auto office = std::make_shared<PostOffice>();
  const int threads = at::get_num_threads();  // what the ranks set becomes everybody's default
  on_kept_threads(world.size, [&](int rank) { run_rank(office, world, rank, body); });
  at::set_num_threads(threads);
  if (office->failure()) throw *office->failure();
  if (office->held() > 0)
    throw std::logic_error("a world of threads ends with " + std::to_string(office->held()) + " messages that it has not forgotten");
}

std::unique_ptr<Communicator> world_of_one(std::chrono::milliseconds deadline) {
  return std::make_unique<ThreadCommunicator>(std::make_shared<PostOffice>(),
                                              Group::everybody(1, 0), std::make_shared<Ledger>(),
                                              deadline, /*fills=*/true);
}

}  // namespace ringcheck
