// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/thread_world.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <limits>
#include <map>
#include <optional>
#include <thread>

#include "cp/device/await.h"
#include "cp/error.h"
#include "cp/device/lane.h"
#include "cp/device/moment.h"
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
                     std::shared_ptr<Ledger> ledger, std::chrono::milliseconds deadline)
      : Transport(std::move(group), std::move(ledger), deadline), office_(std::move(office)) {
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
                                                deadline());
  }

 private:
  // A message, and where it waits for its receiver.
  struct Letter : Half {
    Address address = {};
    std::shared_ptr<Parcel> parcel = {};  // null once done
    Moment free = {};                     // of a receive: its buffer may be written
  };
  struct Letters {
    std::vector<Letter> sends, receives;
  };

  InFlight post(Posting posting) override {
    delay();
    auto posted = std::make_shared<Letters>();
    for (Half& half : posting.sends) posted->sends.push_back(post_send(std::move(half)));
    for (Half& half : posting.receives) posted->receives.push_back(post_receive(std::move(half)));
    return {[this, posted] {
      for (Letter& receive : posted->receives) take(receive);
      for (Letter& send : posted->sends) await_taken(send);
    }};
  }

  Letter letter(Half half, int from, int to, std::map<int, int64_t>& tickets) {
    const Address address{group().id, world_rank(from), world_rank(to), tickets[half.peer]++};
    return {std::move(half), address, office_->at(address)};
  }

  Letter post_send(Half half) {
    const int to = half.peer;
    Letter send = letter(std::move(half), rank(), to, sent_);
    const Moment ready = Moment::now(send.data.device());
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
    poison(receive.data);
    receive.free = Moment::now(receive.data.device());
    return receive;
  }

  void take(Letter& receive) {
    if (!receive.parcel) return;
    await(receive, [&] { return receive.parcel->posted; }, "nothing arrived");
    const at::Tensor& sent = receive.parcel->data;
    if (sent.nbytes() != receive.data.nbytes() || sent.scalar_type() != receive.data.scalar_type())
      throw std::runtime_error("expected " + std::to_string(receive.data.nbytes()) +
                               " bytes, the peer sent " + std::to_string(sent.nbytes()));
    const Moment copied = copy(receive, sent);
    office_->change(*receive.parcel, [&] {
      receive.parcel->copied = copied;
      receive.parcel->taken = true;
    });
    receive.parcel.reset();
  }

  // Beside the computation, once the message is complete and its buffer free.
  Moment copy(const Letter& receive, const at::Tensor& sent) {
    const Range range(receive.operation);
    const at::Device here = receive.data.device();
    const at::Tensor message = sent.view_as(receive.data);
    if (here.is_cpu()) {
      delay();
      receive.data.copy_(message);
      ledger().complete(receive.entry);
      return {};
    }
    Moment copied;
    {
      const c10::StreamGuard beside(*copies_);
      receive.free.hold_back(here);
      receive.parcel->ready.hold_back(here);
      delay();
      const Instant begin = ledger().now();
      receive.data.copy_(message, true);
      const Instant end = ledger().now();
      ledger().complete(receive.entry, begin, end);
      copied = end.moment ? end.moment : Moment::now(here);
    }
    copied.hold_back(here);
    return copied;
  }

  // The sender drops its tensor itself, so that the free is booked on its own rank.
  void await_taken(Letter& send) {
    if (!send.parcel) return;
    await(send, [&] { return send.parcel->taken; }, "the peer did not take the message");
    send.parcel->copied.hold_back(send.data.device());
    if (send.data.is_cpu()) ledger().complete(send.entry);
    send.parcel->data.reset();
    send.parcel.reset();
    office_->forget(send.address);
    send.data.reset();
  }

  void await(const Letter& letter, const std::function<bool()>& what, const char* otherwise) {
    ledger().enter(letter.operation);
    if (!office_->await(*letter.parcel, deadline(), what)) throw late(otherwise);
  }

  std::shared_ptr<PostOffice> office_;
  std::optional<c10::Stream> copies_;  // where the device has streams
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
    ThreadCommunicator comm(office, everybody, ledger, world.deadline);
    body(comm);
    comm.finish();
  } catch (const Abandoned&) {
  } catch (const Timeout& error) {
    office->fail({rank, ledger->current(), true, error.what()});
  } catch (const c10::Error& error) {
    office->fail({rank, ledger->current(), false, error.what_without_backtrace()});
  } catch (const std::exception& error) {
    office->fail({rank, ledger->current(), false, error.what()});
  }
}

}  // namespace

void run(const ThreadWorld& world, const std::function<void(Communicator&)>& body) {
  const auto office = std::make_shared<PostOffice>();
  const int threads = at::get_num_threads();  // what the ranks set becomes everybody's default
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < world.size; ++rank)
      ranks.emplace_back([&, rank] { run_rank(office, world, rank, body); });
  }
  at::set_num_threads(threads);
  if (office->failure()) throw *office->failure();
}

std::unique_ptr<Communicator> world_of_one(std::chrono::milliseconds deadline) {
  return std::make_unique<ThreadCommunicator>(std::make_shared<PostOffice>(),
                                              Group::everybody(1, 0), std::make_shared<Ledger>(),
                                              deadline);
}

}  // namespace ringcheck
