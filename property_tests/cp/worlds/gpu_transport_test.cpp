// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
//
// Every transport between the GPUs of processes keeps the laws of communicators, on tensors that lie
// there. The program starts itself once for each rank; ranks of `ipc` share GPUs where there are fewer.
#include <ATen/ATen.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "cli/process/programs.h"
#include "cp/device/cuda_library.h"
#include "cp/device/delay.h"
#include "cp/device/device_graph.h"
#include "cp/error.h"
#include "cp/worlds/store_world.h"
#include "property_tests/cli/launched_run.h"
#include "property_tests/cli/program.h"
#include "property_tests/cp/worlds/communicator_checks.h"
#include "property_tests/cp/worlds/rank_checks.h"

namespace ringcheck {
namespace {

using namespace std::chrono_literals;

at::TensorOptions floats(const Communicator& comm) {
  return at::TensorOptions(at::kFloat).device(comm.device());
}

std::string unless(bool right, const char* wrong) { return right ? "" : std::string(wrong) + "; "; }

// Every rank's number goes round the ring and grows by a computation on each, many rounds through two
// buffers: what was not ordered by what it waits for shows, whatever is late.
std::string delays_change_nothing(Communicator& comm) {
  constexpr int kRounds = 6;
  constexpr int64_t kElements = 1 << 20;
  comm.delay_with(random_delay(comm.device(), 7 + comm.rank(), 300us));
  at::Tensor own = at::full({kElements}, comm.rank(), floats(comm)), next = at::empty_like(own);
  for (int hop = 0; hop < kRounds * comm.size(); ++hop) {
    comm.exchange(own, comm.right(), next, comm.left(), {"round", hop}).wait();
    own.fill_(-1);
    std::swap(own, next);
    own += 1;
  }
  comm.finish();
  comm.delay_with({});
  return unless(own.eq(comm.rank() + kRounds * comm.size()).all().item<bool>(), "another number came round");
}

// Of one storage, at offsets that nothing is aligned to, and large.
std::string slices_arrive(Communicator& comm) {
  const at::Tensor bytes = at::arange(1 << 24, floats(comm)).remainder(251).to(at::kByte);
  const at::Tensor room = at::zeros_like(bytes);
  std::vector<Message> sends, receives;
  for (const auto& [begin, end] : {std::pair{1, 2}, {3, 4097}, {5000, (1 << 24) - 1}}) {
    sends.push_back({bytes.slice(0, begin, end), comm.right()});
    receives.push_back({room.slice(0, begin, end), comm.left()});
  }
  comm.transfer(sends, receives, {"slices"}).wait();
  at::Tensor expected = bytes.clone();
  for (const int64_t gap : {0, 2}) expected[gap] = 0;
  expected.slice(0, 4097, 5000).zero_();
  expected[-1] = 0;
  return unless(room.equal(expected), "other bytes");
}

// LibTorch gives its memory back and takes other memory, which may lie where the old one was.
std::string memory_may_be_given_back(Communicator& comm) {
  std::string wrong;
  for (const int64_t elements : {int64_t{3} << 20, int64_t{9} << 20, int64_t{3} << 20, int64_t{20} << 20}) {
    {
      const at::Tensor send = at::full({elements}, comm.rank(), floats(comm)), receive = at::empty_like(send);
      comm.exchange(send, comm.right(), receive, comm.left(), {"given back"}).wait();
      wrong += unless(receive.eq(comm.left()).all().item<bool>(), "not what was sent");
    }
    comm.finish();
    at::getDeviceAllocator(at::kCUDA)->emptyCache({0, 0});
  }
  return wrong;
}

// A message is under way while the rank computes, by the device's own clock. Ranks that share a GPU
// compute in turn.
std::string messages_overlap_computation(Communicator& comm) {
  if (comm.size() > device_count(at::kCUDA) || comm.size() == 1) return "";
  const at::Tensor send = at::ones({1 << 22}, floats(comm)), receive = at::empty_like(send);
  comm.exchange(send, comm.right(), receive, comm.left(), {"warm", 0}).wait();
  comm.finish();
  comm.agree_max(int64_t{0});
  Ledger& ledger = comm.ledger();
  const size_t before = ledger.transfers().size();
  Moment computed;
  double computed_at = 0;
  {
    const Ledger::Scope scope(ledger, Phase::kForward);
    const Moment begin = Moment::timed(comm.device());
    Pending pending = comm.exchange(send, comm.right(), receive, comm.left(), {"beside", 1});
    linger(comm.device(), 20ms);
    computed = Moment::timed(comm.device());
    pending.wait();
    comm.finish();
    computed_at = computed.since(begin);
  }
  ledger.settle();
  const Transferred& received = ledger.transfers().back();
  return unless(ledger.transfers().size() == before + 2, "not two lines in the ledger") +
         unless(computed_at > 0.015, "the computation took no time") +
         unless(received.end - received.begin < 0.010, "the message waited for the computation");
}

// As of any transport that waits for hosts: the deadline names whom it waited for, and what comes later
// is complete with finish().
std::string a_missing_partner_is_a_timeout(Communicator& world, Session& session) {
  if (world.size() == 1) return "";
  const auto impatient = session.world(1500ms);
  const at::Tensor receive = at::zeros({3}, floats(world));
  std::string wrong;
  if (world.rank() == 1) {
    try {
      impatient->transfer({}, {{receive, 0}}, {"late", 6}).wait();
      wrong = "nothing was missing; ";
    } catch (const Timeout&) {
      const std::string now = describe(impatient->ledger().current());
      wrong = unless(now == "late, step 6, peer 0", ("the wait was for " + now).c_str());
    }
  }
  world.agree_max(int64_t{0});
  if (world.rank() == 0)
    std::ignore = impatient->transfer({{at::ones({3}, floats(world)), 1}}, {}, {"late", 6});
  impatient->finish();
  if (world.rank() == 1) wrong += unless(receive.eq(1).all().item<bool>(), "finish() left it undone");
  return wrong;
}

// A message of another size than its buffer is an error of the receiver.
std::string a_wrong_size_is_an_error(Communicator& world, Session& session) {
  const auto comm = session.world(60s);
  const at::Tensor receive = at::empty({5}, floats(world));
  try {
    comm->exchange(at::ones({3}, floats(world)), comm->right(), receive, comm->left(), {"test"}).wait();
  } catch (const std::runtime_error& error) {
    return unless(std::string(error.what()) == "expected 20 bytes, the peer sent 12", error.what());
  }
  return "accepted another size";
}

// What is posted while a graph is made is done at every replay, with the values of then: two messages under way at
// once, both ways round, and one to everybody, between computations; replays that follow each other closely, too.
std::string a_graph_holds_messages(Communicator& comm) {
  if (!comm.capturable()) return "this transport does not say that a graph can hold its messages; ";
  const at::Tensor send = at::zeros({1 << 16}, floats(comm)), left = at::zeros_like(send), right = at::zeros_like(send);
  const std::vector<at::Tensor> all = comm.buffers(send.numel(), at::kFloat, MemoryTag::kOther);
  const auto pass = [&] {
    Pending from_left = comm.exchange(send, comm.right(), left, comm.left(), {"kept"});
    Pending from_right = comm.exchange(send, comm.left(), right, comm.right(), {"kept, too"});
    from_right.wait();
    right.add_(1);
    from_left.wait();
    comm.all_gather(right, all, {"kept of all"}).wait();
    send.add_(1);
    comm.hand_over();
  };
  pass();
  comm.finish();
  std::string wrong;
  const auto graph = DeviceGraphs::at("cuda")(pass);
  for (const int value : {10, 20}) {
    send.fill_(value + comm.rank());
    comm.agree_max(int64_t{0});
    for (int replay = 0; replay < 5; ++replay) graph->replay();
    comm.finish();
    const int sent = value + 4;  // by rank 0, at the last replay
    wrong += unless(left.eq(sent + comm.left()).all().item<bool>(), "a replay brought other numbers");
    for (int rank = 0; rank < comm.size(); ++rank)
      wrong += unless(all[rank].eq(sent + (rank + 1) % comm.size() + 1).all().item<bool>(), "a replay brought other numbers of all");
  }
  return wrong;
}

RankCheck in_world(const char* name, std::string (*check)(Communicator&)) {
  return {name, [check](Communicator& world, Session&) { return check(world); }};
}

std::vector<RankCheck> checks_of(const std::string& transport) {
  std::vector<RankCheck> list = checks_of_communicators();
  list.push_back(in_world("DelaysChangeNothing", delays_change_nothing));
  list.push_back(in_world("SlicesArrive", slices_arrive));
  list.push_back(in_world("MemoryMayBeGivenBack", memory_may_be_given_back));
  list.push_back(in_world("MessagesOverlapComputation", messages_overlap_computation));
  list.push_back(in_world("AGraphHoldsMessages", a_graph_holds_messages));
  if (transport == "ipc") {  // whose hosts tell each other what they do
    list.push_back({"AMissingPartnerIsATimeout", a_missing_partner_is_a_timeout});
    list.push_back({"AWrongSizeIsAnError", a_wrong_size_is_an_error});
  }
  return list;
}

// As a rank: told its transport.
int as_rank(int argc, char** argv) {
  const std::string transport = argc > 1 ? argv[1] : kUsualGpuTransport;
  GTEST_FLAG_SET(filter, "GpuTransport.*");  // a rank starts no ranks
  StoreSession host;
  const auto session = on_gpus(host, host.rank(), transport);
  return run_rank_checks(*session, argc, argv, "GpuTransport", checks_of(transport));
}

class Ranks : public ::testing::TestWithParam<std::tuple<const char*, int>> {};

TEST_P(Ranks, KeepTheLawsOfCommunicators) {
  const auto& [transport, size] = GetParam();
  if (why_no_cuda()) GTEST_SKIP() << *why_no_cuda();
  if (std::string(transport) == "nccl" && device_count(at::kCUDA) < size)
    GTEST_SKIP() << "NCCL needs a GPU for each of " << size << " ranks";
  const std::string port = testing::free_port(), world = std::to_string(size);
  std::vector<std::unique_ptr<testing::Running>> ranks;
  for (int rank = 0; rank < size; ++rank)
    ranks.push_back(std::make_unique<testing::Running>(
        std::vector<std::string>{cli::own_path(), transport},
        std::map<std::string, std::string>{{"RANK", std::to_string(rank)}, {"WORLD_SIZE", world},
                                           {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", port}}));
  for (const auto& rank : ranks) {
    const testing::Ran ran = rank->wait();
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, Ranks,
                         ::testing::Combine(::testing::ValuesIn(kGpuTransports),
                                            ::testing::Values(1, 2, 3)));

}  // namespace
}  // namespace ringcheck

int main(int argc, char** argv) {
  if (std::getenv("RANK") != nullptr) return ringcheck::as_rank(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  const bool ran = testing::UnitTest::GetInstance()->successful_test_count() > 0;
  return status != 0 || ran || testing::GTEST_FLAG(list_tests) ? status : 77;
}
