// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/store_world.h"

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "cp/worlds/transport.h"

namespace ringcheck {
namespace {

constexpr int64_t kMostBytes = 4 << 20;  // of one value of the store

using Bytes = std::vector<uint8_t>;

// Messages are values under keys that name the group, both ranks and how many went before.
class StoreCommunicator final : public Transport {
 public:
  StoreCommunicator(c10::intrusive_ptr<c10d::Store> store, std::string prefix, Group group,
                    std::shared_ptr<Ledger> ledger, std::chrono::milliseconds deadline)
      : Transport(std::move(group), std::move(ledger), deadline),
        store_(std::move(store)),
        prefix_(std::move(prefix)) {}

  std::unique_ptr<Communicator> over(Group group) override {
    return std::make_unique<StoreCommunicator>(store_, prefix_, std::move(group), shared_ledger(),
                                               deadline());
  }

 private:
  // A message to be fetched.
  struct Letter : Half {
    std::string key = {};
    bool done = false;
  };

  InFlight post(Posting posting) override {
    for (const Half& half : posting.sends) send(half);
    auto expected = std::make_shared<std::vector<Letter>>();
    for (Half& half : posting.receives) {
      std::string from = key(half.peer, rank(), received_[half.peer]++);
      expected->push_back({std::move(half), std::move(from)});
    }
    return {[this, expected] {
      for (Letter& letter : *expected)
        if (!letter.done) take(letter);
    }};
  }

  std::string key(int from, int to, int64_t ticket) const {
    return prefix_ + std::to_string(group().id) + "/" + std::to_string(world_rank(from)) + ">" +
           std::to_string(world_rank(to)) + "/" + std::to_string(ticket) + "/";
  }

  void send(const Half& half) {
    const std::string to = key(rank(), half.peer, sent_[half.peer]++);
    const auto* bytes = static_cast<const uint8_t*>(half.data.const_data_ptr());
    const auto size = static_cast<int64_t>(half.data.nbytes());
    for (int64_t begin = 0, part = 0; begin == 0 || begin < size; begin += kMostBytes, ++part)
      store_->set(to + std::to_string(part),
                  Bytes(bytes + begin, bytes + std::min(size, begin + kMostBytes)));
    ledger().complete(half.entry);
  }

  void take(Letter& letter) {
    ledger().enter(letter.operation);
    auto* bytes = static_cast<uint8_t*>(letter.data.mutable_data_ptr());
    const auto size = static_cast<int64_t>(letter.data.nbytes());
    for (int64_t begin = 0, part = 0; begin == 0 || begin < size; begin += kMostBytes, ++part) {
      const Bytes value = fetch(letter.key + std::to_string(part));
      const int64_t expected = std::min(size - begin, kMostBytes);
      if (static_cast<int64_t>(value.size()) != expected)
        throw std::runtime_error("expected " + std::to_string(expected) + " bytes, the peer sent " +
                                 std::to_string(value.size()));
      if (expected > 0) std::memcpy(bytes + begin, value.data(), value.size());
    }
    ledger().complete(letter.entry);
    letter.done = true;
  }

  Bytes fetch(const std::string& from) {
    try {
      store_->wait({from}, deadline());
    } catch (const c10::DistStoreError&) {
      throw late("nothing arrived");
    }
    Bytes value = store_->get(from);
    store_->deleteKey(from);
    return value;
  }

  c10::intrusive_ptr<c10d::Store> store_;
  std::string prefix_;
  std::map<int, int64_t> sent_, received_;
};

std::string said(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0')
    throw std::runtime_error(std::string("torchrun's variable ") + name +
                             " is not set; start with torchrun --nproc-per-node N");
  return value;
}

int number(const char* name) {
  const std::string text = said(name);
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (end == text.c_str() || *end != '\0' || value < 0 || value > 1 << 20)
    throw std::runtime_error(std::string(name) + "=" + text + " is not a number from 0 on");
  return static_cast<int>(value);
}

}  // namespace

StoreSession::StoreSession(std::chrono::milliseconds time_to_meet)
    : rank_(number("RANK")), size_(number("WORLD_SIZE")) {
  if (rank_ >= size_)
    throw std::runtime_error("RANK=" + std::to_string(rank_) + " is not below WORLD_SIZE=" +
                             std::to_string(size_));
  // torchrun's own agent may keep the store; otherwise rank 0 does.
  const char* agent = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(number("MASTER_PORT"));
  options.isServer = rank_ == 0 && !(agent != nullptr && std::string(agent) == "True");
  options.timeout = time_to_meet;
  options.waitWorkers = false;
  const std::string host = said("MASTER_ADDR");
  try {
    store_ = c10::make_intrusive<c10d::TCPStore>(host, options);
  } catch (const c10::Error& error) {
    throw std::runtime_error("no store at MASTER_ADDR=" + host + ", MASTER_PORT=" +
                             std::to_string(options.port) + " within " +
                             std::to_string(time_to_meet.count()) + " ms (" +
                             error.what_without_backtrace() +
                             "); start all ranks with torchrun, and let them reach that port");
  }
}

StoreSession::~StoreSession() {
  // Whoever keeps the store leaves last.
  try {
    store_->add("ringcheck/left", 1);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (rank_ == 0 && store_->add("ringcheck/left", 0) < size_ &&
           std::chrono::steady_clock::now() < end) {
    }
  } catch (const std::exception&) {
  }
}

std::unique_ptr<Communicator> StoreSession::world(std::chrono::milliseconds deadline) {
  return std::make_unique<StoreCommunicator>(store_, "ringcheck/" + std::to_string(worlds_++) + "/",
                                             Group::everybody(size_, rank_),
                                             std::make_shared<Ledger>(), deadline);
}

void StoreSession::abort(int code) { std::_Exit(code); }

namespace {

std::unique_ptr<Session> join(std::chrono::milliseconds time_to_meet) {
  return std::make_unique<StoreSession>(time_to_meet);
}

const Meetings::Add registered{"store", {join}};

}  // namespace

}  // namespace ringcheck
