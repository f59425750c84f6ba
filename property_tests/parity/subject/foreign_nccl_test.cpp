// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// A subject that calls NCCL itself is counted by NCCL's profiling interface: what it moves beside its
// strategy fails `counters`. Each rank needs a GPU of its own, so with less than two nothing runs here.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "cp/device/cuda_library.h"
#include "cp/device/moment.h"
#include "parity/case/text.h"
#include "parity/subject/world.h"
#include "property_tests/parity/subject/foreign.h"

namespace ringcheck {
namespace {

template <class... Arguments>
void foreign(const char* name, Arguments... arguments) {
  static void* library = ::dlopen("libforeign_nccl.so", RTLD_NOW | RTLD_LOCAL);
  void* found = library == nullptr ? nullptr : ::dlsym(library, name);
  if (found == nullptr) throw std::runtime_error(::dlerror());
  if (const char* wrong = reinterpret_cast<const char* (*)(Arguments...)>(found)(arguments...))
    throw std::runtime_error(std::string(name) + ": " + wrong);
}

// A rank's communicator of NCCL.
class Joined {
 public:
  Joined(const void* id, const Communicator& comm) {
    foreign<const void*, int, int, void**>("foreign_join", id, comm.rank(), comm.size(), &comm_);
  }
  ~Joined() { foreign<void*>("foreign_leave", comm_); }
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;
  void exchange(const at::Tensor& send, int to, const at::Tensor& receive, int from) const {
    foreign<void*, const void*, int, void*, int, long>("foreign_exchange", comm_,
                                                       send.const_data_ptr(), to,
                                                       receive.mutable_data_ptr(), from,
                                                       static_cast<long>(send.nbytes()));
  }

 private:
  void* comm_ = nullptr;
};

std::function<Exchange(Communicator&)> by_nccl() {
  std::array<char, 128> id{};
  foreign<void*>("foreign_id", id.data());
  return [id](Communicator& comm) -> Exchange {
    return [joined = std::make_shared<Joined>(id.data(), comm)](
               const at::Tensor& send, int to, const at::Tensor& receive, int from) {
      joined->exchange(send, to, receive, from);
    };
  };
}

const char* const kCase =
    "ring:p2p/headtail/tiled/causal/thread/cuda/P2/b2/hq4/hkv2/s48/d16/dv24/bf16";

parity::OracleVerdict verdict(int extra) {
  const parity::Case test = parity::parse_case(kCase);
  const auto subject = moving_by(by_nccl(), extra);
  return counters_of(test, *subject, parity::solve_on_threads({test}, *subject));
}

class ForeignNccl : public testing::Test {
 protected:
  void SetUp() override {
    if (why_no_cuda() || device_count(at::kCUDA) < 2)
      GTEST_SKIP() << "NCCL needs a GPU for each rank, and there are fewer than two";
  }
};

TEST_F(ForeignNccl, PassesWhereItMovesWhatItsStrategyMoves) {
  const parity::OracleVerdict clean = verdict(0);
  EXPECT_EQ(clean.status, parity::Status::kPass);
  EXPECT_THAT(clean.findings, testing::IsEmpty());
}

TEST_F(ForeignNccl, ABlockOutsideThePassesIsNamed) {
  const parity::OracleVerdict extra = verdict(1);
  EXPECT_EQ(extra.status, parity::Status::kFail);
  for (int rank = 0; rank < 2; ++rank)
    EXPECT_THAT(extra.findings, testing::Contains(block_outside(parity::parse_case(kCase), rank)));
}

}  // namespace
}  // namespace ringcheck
