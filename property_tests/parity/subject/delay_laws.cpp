// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/delay.h"

#include <ATen/ATen.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>

#include "property_tests/parity/case/generators.h"
#include "property_tests/cp/attention/passes.h"

// Determinism: the same bits in every run, however computation and messages are shifted in time.
namespace ringcheck {
namespace {

using std::chrono::microseconds;

// Every rank delays both of its streams at every hop, each by another sequence of random times.
Pass delayed_pass(const parity::Case& test, uint64_t seed, microseconds most) {
  const parity::Problem problem = parity::problem_of(test);
  const std::vector<Positions> layout = parity::layout_of(test).queries;
  return together(test, on_every_rank(test.world, [&](Communicator& comm) {
                    const int rank = comm.rank();
                    comm.delay_with(random_delay(comm.device(), seed * 64 + rank, most));
                    return rank_pass(comm, test, local_problem(test, problem, layout[rank], 0));
                  }));
}

// For every rotation: run to run, and with delays of up to 2 ms at every hop, the same bits.
RC_GTEST_PROP(Delays, ChangeNoBit, ()) {
  parity::Case test = *gen::test_case().as("case");
  const uint64_t seed = *gen::seed().as("delays");
  for (const std::string& arguments : Strategies::at(test.strategy).values()) {
    test.arguments = arguments;
    parity::deal_heads(test);
    const Pass alone = run_pass(test);
    RC_ASSERT(difference(run_pass(test), alone) == "");
    RC_ASSERT(difference(delayed_pass(test, seed, microseconds(2000)), alone) == "");
  }
}

// A delay is asked for twice a hop: before the message is posted, on the stream that computes, and
// before it is copied, on the one beside it.
TEST(Delays, AreAskedForOnBothStreamsOfEveryHop) {
  constexpr int kHops = 3;
  on_every_rank(2, [&](Communicator& comm) {
    const auto* driver = c10::impl::getDeviceGuardImpl(comm.device().type());
    const c10::Stream computing = driver->getStream(comm.device());
    int on_computing = 0, beside = 0;
    comm.delay_with([&] {
      ++(driver->getStream(comm.device()) == computing ? on_computing : beside);
    });
    const auto options = at::TensorOptions(at::kFloat).device(comm.device());
    const at::Tensor own = at::ones({8}, options), other = at::empty_like(own);
    for (int hop = 0; hop < kHops; ++hop)
      comm.exchange(own, comm.right(), other, comm.left(), {"test"}).wait();
    const bool streams = test_device_type() != at::kCPU;
    EXPECT_EQ(on_computing, streams ? kHops : 2 * kHops);
    EXPECT_EQ(beside, streams ? kHops : 0);
    return 0;
  });
}

// As messages of the whole world are.
TEST(Delays, AreAskedForInGroupsThatAreSplitOff) {
  on_every_rank(3, [&](Communicator& comm) {
    std::atomic<int> asked = 0;
    comm.delay_with([&] { ++asked; });
    const auto group = comm.split(comm.rank() / 2, 0);
    asked = 0;
    const at::Tensor own = at::ones({8}, at::TensorOptions(at::kFloat).device(comm.device())), other = at::empty_like(own);
    group->exchange(own, group->right(), other, group->left(), {"test"}).wait();
    EXPECT_EQ(asked, 2) << "rank " << comm.rank();
    return 0;
  });
}

// A delay takes its time on the device, none of it on the host where the device has streams.
TEST(Delays, LastAsLongAsTheySay) {
  on_every_rank(1, [&](Communicator& comm) {
    Ledger& ledger = comm.ledger();
    const Ledger::Scope scope(ledger, Phase::kForward);
    const Instant begin = ledger.now();
    linger(comm.device(), microseconds(20000));
    ledger.attended({Phase::kForward, {}, {}, {}, 0, 0, begin, ledger.now()});
    comm.finish();
    EXPECT_GE(ledger.seconds(Phase::kForward).attention, 0.0199);
    EXPECT_LT(ledger.seconds(Phase::kForward).attention, 0.5);
    return 0;
  });
}

}  // namespace
}  // namespace ringcheck
