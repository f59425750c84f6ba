// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

namespace ringcheck {

// Numbers in GPU memory that only grow, by which streams of several processes wait for each other
// without their hosts. A stream that waits for one that nobody is going to write waits for ever: so
// a wait is queued only after its write, which whoever queued it has to say.
class Flags {
 public:
  // One of each kind a peer, which that peer alone writes. On the current GPU.
  enum class Kind { kFree, kArrived };
  explicit Flags(int peers);
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  void* memory() const { return memory_; }  // to export, for peers to write to
  // What the stream gets from now on comes after the peer's number.
  void await(cudaStream_t stream, Kind kind, int peer, uint32_t number) const;
  std::vector<uint32_t> read(Kind kind) const;  // now

  // Behind all that the stream holds, in the flags that lie at `flags`, as rank `writer` of `peers`.
  static void write(cudaStream_t stream, void* flags, Kind kind, int writer, int peers,
                    uint32_t number);

 private:
  uint32_t* flag(Kind kind, int peer) const;

  int peers_;
  void* memory_ = nullptr;
};

}  // namespace ringcheck
