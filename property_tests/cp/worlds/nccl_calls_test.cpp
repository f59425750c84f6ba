// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// Whoever has loaded the library calls NCCL through it: where nobody is witnessed it only passes the call on. Without a communicator
// NCCL refuses every call, with and without a GPU.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "cp/ledger/bypass.h"

namespace ringcheck {
namespace {

constexpr int kInvalidArgument = 4, kInvalidUsage = 5, kBytes = 0;

class NcclCalls : public testing::Test {
 protected:
  void SetUp() override {
    library_ = ::dlopen("libringcheck_cuda.so", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) GTEST_SKIP() << "built without CUDA: " << ::dlerror();
  }

  template <class... Arguments>
  void expect_refused(const char* name, Arguments... arguments) {
    void* found = ::dlsym(library_, name);
    ASSERT_NE(found, nullptr) << name;
    const int result = reinterpret_cast<int (*)(Arguments...)>(found)(arguments...);
    EXPECT_TRUE(result == kInvalidArgument || result == kInvalidUsage) << name << " returned " << result;
  }

  void expect_all_refused() {
    using Data = const void*;
    using Handle = void*;
    const size_t count = 8;
    for (const char* name : {"ncclSend", "ncclRecv"})
      expect_refused<Data, size_t, int, int, Handle, Handle>(name, nullptr, count, kBytes, 0, nullptr, nullptr);
    for (const char* name : {"ncclAllGather", "ncclAlltoAll"})
      expect_refused<Data, Data, size_t, int, Handle, Handle>(name, nullptr, nullptr, count, kBytes, nullptr, nullptr);
    for (const char* name : {"ncclReduceScatter", "ncclAllReduce", "ncclBroadcast"})
      expect_refused<Data, Data, size_t, int, int, Handle, Handle>(name, nullptr, nullptr, count, kBytes, 0, nullptr, nullptr);
    expect_refused<Data, size_t, int, int, Handle, Handle>("ncclBcast", nullptr, count, kBytes, 0, nullptr, nullptr);
    expect_refused<Data, Data, size_t, int, int, int, Handle, Handle>("ncclReduce", nullptr, nullptr, count, kBytes, 0, 0, nullptr, nullptr);
  }

  void* library_ = nullptr;
};

TEST_F(NcclCalls, PassWhereNobodyIsWitnessed) { expect_all_refused(); }

TEST_F(NcclCalls, PassWhereTheCommunicatorIsNone) {
  Ledger ledger;
  const Witnessed witnessed(ledger, {0, 1});
  expect_all_refused();
  EXPECT_EQ(ledger.traffic().bytes_sent, 0);
}

// Of the ranks that answered before, nothing is known of a group of other ranks, or of no rank of it.
TEST(Bypass, KnowsNoRankOutsideAGroup) {
  for (const int rank : {-2, -1, 0, 3}) EXPECT_EQ(BypassingCall::world_rank(rank, 0), -1) << rank;
  Ledger ledger;
  const Witnessed witnessed(ledger, {0, 2, 5});
  for (const int rank : {-2, -1, 3}) EXPECT_EQ(BypassingCall::world_rank(rank, 3), -1) << rank;
}

}  // namespace
}  // namespace ringcheck
