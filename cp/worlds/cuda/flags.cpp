// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/worlds/cuda/flags.h"

#include <c10/cuda/CUDAException.h>

#include "cp/device/cuda/driver.h"

namespace ringcheck {
namespace {

// An allocation of its own: CUDA exports whole blocks of this size, with whatever else lies in them.
constexpr size_t kBytes = 2 << 20;

// Of a slot those of both kinds lie together.
uint32_t* flag_in(void* memory, Flags::Kind kind, int peer, int peers, int64_t slot) {
  return static_cast<uint32_t*>(memory) + (2 * slot + (kind == Flags::Kind::kFree ? 0 : 1)) * peers + peer;
}

CUdeviceptr address(const uint32_t* flag) { return reinterpret_cast<CUdeviceptr>(flag); }

}  // namespace

Flags::Flags(int peers) : peers_(peers) {
  C10_CUDA_CHECK(cudaMalloc(&memory_, kBytes));
  C10_CUDA_CHECK(cudaMemset(memory_, 0, kBytes));
  C10_CUDA_CHECK(cudaDeviceSynchronize());
}

Flags::~Flags() { cudaFree(memory_); }

int64_t Flags::slots(int peers) { return static_cast<int64_t>(kBytes / sizeof(uint32_t)) / (2 * peers) - 1; }

uint32_t* Flags::flag(Kind kind, int peer, int64_t slot) const { return flag_in(memory_, kind, peer, peers_, slot); }

void Flags::await(cudaStream_t stream, Kind kind, int peer, uint32_t number, int64_t slot) const {
  static const auto wait = driver_function<decltype(cuStreamWaitValue32)>("cuStreamWaitValue32");
  check_driver(wait(stream, address(flag(kind, peer, slot)), number, CU_STREAM_WAIT_VALUE_GEQ),
               "waiting for a flag");
  if (slot > 0) write(stream, memory_, kind, peer, peers_, 0, slot);
}

std::vector<uint32_t> Flags::read(Kind kind) const {
  std::vector<uint32_t> values(peers_);
  C10_CUDA_CHECK(cudaMemcpy(values.data(), flag(kind, 0, 0), values.size() * sizeof values[0],
                            cudaMemcpyDeviceToHost));
  return values;
}

void Flags::write(cudaStream_t stream, void* flags, Kind kind, int writer, int peers,
                  uint32_t number, int64_t slot) {
  static const auto write = driver_function<decltype(cuStreamWriteValue32)>("cuStreamWriteValue32");
  check_driver(write(stream, address(flag_in(flags, kind, writer, peers, slot)), number,
                     CU_STREAM_WRITE_VALUE_DEFAULT),
               "writing a flag");
}

}  // namespace ringcheck
