// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/cuda/flags.h"

#include <c10/cuda/CUDAException.h>

#include <algorithm>

#include "cp/device/cuda/driver.h"

namespace ringcheck {
namespace {

// An allocation of its own: CUDA exports whole blocks of this size, with whatever else lies in them.
constexpr size_t kBytes = 2 << 20;

// Operations that the driver takes as one are less than 256.
constexpr size_t kMostAtOnce = 128;

// Of a slot those of both kinds lie together.
uint32_t* flag_in(void* memory, Flags::Kind kind, int peer, int peers, int64_t slot) {
  return static_cast<uint32_t*>(memory) + (2 * slot + (kind == Flags::Kind::kFree ? 0 : 1)) * peers + peer;
}

// Whoever waits is to see what was written before the flag. GPUs that say so need a flush for what peers write.
unsigned flushing() {
  int device = 0, can_flush = 0;
  C10_CUDA_CHECK(cudaGetDevice(&device));
  C10_CUDA_CHECK(cudaDeviceGetAttribute(&can_flush, cudaDevAttrCanFlushRemoteWrites, device));
  return can_flush != 0 ? CU_STREAM_WAIT_VALUE_FLUSH : 0;
}

CUdeviceptr address(const uint32_t* flag) { return reinterpret_cast<CUdeviceptr>(flag); }

}  // namespace

Flags::Flags(int peers) : peers_(peers), flush_(flushing()) {
  C10_CUDA_CHECK(cudaMalloc(&memory_, kBytes));
  C10_CUDA_CHECK(cudaMemset(memory_, 0, kBytes));
  C10_CUDA_CHECK(cudaDeviceSynchronize());
}

Flags::~Flags() { cudaFree(memory_); }

int64_t Flags::slots(int peers) { return static_cast<int64_t>(kBytes / sizeof(uint32_t)) / (2 * peers) - 1; }

uint32_t* Flags::flag(Kind kind, int peer, int64_t slot) const { return flag_in(memory_, kind, peer, peers_, slot); }

std::vector<uint32_t> Flags::read(Kind kind) const {
  std::vector<uint32_t> values(peers_);
  C10_CUDA_CHECK(cudaMemcpy(values.data(), flag(kind, 0, 0), values.size() * sizeof values[0],
                            cudaMemcpyDeviceToHost));
  return values;
}

void Flags::Batch::await(const Flags& flags, Kind kind, int peer, uint32_t number, int64_t slot) {
  CUstreamBatchMemOpParams& wait = operations_.emplace_back();
  wait.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  wait.waitValue.address = address(flags.flag(kind, peer, slot));
  wait.waitValue.value = number;
  wait.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ | flags.flush_;
  if (slot > 0) write(flags.memory_, kind, peer, flags.peers_, 0, slot);
}

void Flags::Batch::write(void* flags, Kind kind, int writer, int peers, uint32_t number, int64_t slot) {
  CUstreamBatchMemOpParams& write = operations_.emplace_back();
  write.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  write.writeValue.address = address(flag_in(flags, kind, writer, peers, slot));
  write.writeValue.value = number;
  write.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
}

void Flags::Batch::queue(cudaStream_t stream) {
  static const auto operate = driver_function<decltype(cuStreamBatchMemOp)>("cuStreamBatchMemOp");
  for (size_t done = 0; done < operations_.size(); done += kMostAtOnce)
    check_driver(operate(stream, static_cast<unsigned>(std::min(kMostAtOnce, operations_.size() - done)), &operations_[done], 0),
                 "writing flags and waiting for them");
  operations_.clear();
}

}  // namespace ringcheck
