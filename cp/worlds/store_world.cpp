// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/store_world.h"

#include <ATen/ATen.h>
#include <c10/util/Flags.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <thread>
#include <utility>

#include "cp/error.h"
#include "cp/worlds/torch_variables.h"
#include "cp/worlds/transport.h"

C10_DECLARE_int(caffe2_log_level);

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
    Bytes bytes;
    bytes.reserve(half.data.nbytes());
    each_piece(half, [&](const uint8_t* data, int64_t size) { bytes.insert(bytes.end(), data, data + size); });
    const auto size = static_cast<int64_t>(bytes.size());
    for (int64_t begin = 0, part = 0; begin == 0 || begin < size; begin += kMostBytes, ++part)
      store_->set(to + std::to_string(part),
                  Bytes(bytes.begin() + begin, bytes.begin() + std::min(size, begin + kMostBytes)));
    ledger().complete(half.entry);
  }

  void take(Letter& letter) {
    ledger().enter(letter.operation);
    Bytes bytes;
    const auto size = static_cast<int64_t>(letter.data.nbytes());
    for (int64_t begin = 0, part = 0; begin == 0 || begin < size; begin += kMostBytes, ++part) {
      const Bytes value = fetch(letter.key + std::to_string(part));
      const int64_t expected = std::min(size - begin, kMostBytes);
      if (static_cast<int64_t>(value.size()) != expected)
        throw std::runtime_error("expected " + std::to_string(expected) + " bytes, the peer sent " +
                                 std::to_string(value.size()));
      bytes.insert(bytes.end(), value.begin(), value.end());
    }
    const uint8_t* next = bytes.data();
    each_piece(letter, [&](uint8_t* data, int64_t piece) {
      if (piece > 0) std::memcpy(data, next, piece);
      next += piece;
    });
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

using Clock = std::chrono::steady_clock;

std::chrono::milliseconds until(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  return std::max(left, std::chrono::milliseconds(1));
}

std::string seconds_text(std::chrono::milliseconds time) {
  std::ostringstream text;
  text << static_cast<double>(time.count()) / 1000 << " s";
  return text.str();
}

TorchVariables variables() {
  const auto said = torch_variables(variable);
  if (!said) throw BadLaunch("RANK is not set; start with torchrun --nproc-per-node N");
  return *said;
}

// The ranks of an earlier attempt of torchrun, and these in an earlier session, may have left keys in its store.
std::string session_keys() {
  static std::atomic<int> sessions = 0;
  const char* count = variable("TORCHELASTIC_RESTART_COUNT");
  return std::string("ringcheck/") + (count == nullptr ? "0" : count) + "/" + std::to_string(sessions++) + "/";
}

// torchrun's own agent may keep the store; otherwise rank 0 does.
bool keeps_store(int rank) {
  const char* agent = variable("TORCHELASTIC_USE_AGENT_STORE");
  return rank == 0 && !(agent != nullptr && std::string(agent) == "True");
}

// c10d tells every attempt to connect, with its stack; the last word of it is ours.
class Quiet {
 public:
  Quiet() : level_(std::exchange(FLAGS_caffe2_log_level, kFatal)) {}
  ~Quiet() { FLAGS_caffe2_log_level = level_; }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  static constexpr int kFatal = 3;
  int level_;
};

c10::intrusive_ptr<c10d::Store> store_at(const TorchVariables& said,
                                         std::chrono::milliseconds time_to_meet) {
  c10d::TCPStoreOptions options;
  options.port = said.port;
  options.isServer = keeps_store(said.rank);
  options.timeout = time_to_meet / 2;  // to connect: it tries twice
  options.waitWorkers = false;
  try {
    auto store = c10::make_intrusive<c10d::TCPStore>(said.address, options);
    store->setTimeout(time_to_meet);
    return store;
  } catch (const c10::Error& error) {
    const std::string at = "MASTER_ADDR=" + said.address + ", MASTER_PORT=" +
                           std::to_string(said.port), why = error.what_without_backtrace();
    if (options.isServer)
      throw std::runtime_error("rank 0 cannot keep a store at " + at + ": " + why +
                               "; name an address of its machine and a port that is free, and "
                               "give no RANK twice");
    throw Timeout("rank 0 keeps no store at " + at + ", in " + seconds_text(time_to_meet) + ": " +
                  why + "; start rank 0, with the same MASTER_ADDR and MASTER_PORT, and let "
                  "every rank reach it there");
  }
}

}  // namespace

StoreSession::StoreSession(std::chrono::milliseconds time_to_meet) : keys_(session_keys()) {
  const Quiet quiet;
  const auto end = Clock::now() + time_to_meet;
  const TorchVariables said = variables();
  rank_ = said.rank;
  size_ = said.size;
  store_ = store_at(said, time_to_meet);
  const auto here = [&](int rank) { return keys_ + "here/" + std::to_string(rank); };
  store_->set(here(rank_), Bytes{1});
  for (int peer = 0; peer < size_; ++peer) try {
      store_->wait({here(peer)}, until(end));
    } catch (const c10::Error&) {
      throw Timeout("rank " + std::to_string(peer) + " of " + std::to_string(size_) +
                    " did not come to " + said.place() + " in " + seconds_text(time_to_meet) +
                    "; start all ranks, with the same MASTER_ADDR and MASTER_PORT");
    }
}

StoreSession::~StoreSession() {
  // Whoever keeps the store leaves last.
  try {
    store_->add(keys_ + "left", 1);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (keeps_store(rank_) && store_->add(keys_ + "left", 0) < size_ &&
           std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  } catch (const std::exception&) {
  }
}

std::unique_ptr<Communicator> StoreSession::world(std::chrono::milliseconds deadline) {
  return std::make_unique<StoreCommunicator>(store_, keys_ + std::to_string(worlds_++) + "/",
                                             Group::everybody(size_, rank_),
                                             std::make_shared<Ledger>(), deadline);
}

void StoreSession::end_all(int code) { std::_Exit(code); }

namespace {

std::unique_ptr<Session> join(std::chrono::milliseconds time_to_meet) {
  return std::make_unique<StoreSession>(time_to_meet);
}

const Meetings::Add registered{"store", {join}};

}  // namespace

}  // namespace ringcheck
