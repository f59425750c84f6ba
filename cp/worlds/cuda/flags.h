// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

namespace ringcheck {

// Numbers in GPU memory by which streams of several processes wait for each other without their
// hosts. A stream that waits for one that nobody is going to write waits for ever: so a wait is queued
// only after its write, which whoever queued it has to say (in a graph IpcLink sees to it that it ends). Those in slot 0 only grow; the others are
// of graphs, whose waits must hold at every replay: they are 0 or 1, and whoever waited makes it 0.
class Flags {
 public:
  // One of each kind, slot and peer, which that peer writes. On the current GPU.
  enum class Kind { kFree, kArrived };
  explicit Flags(int peers);
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  void* memory() const { return memory_; }  // to export, for peers to write to
  // Slots that graphs can use.
  static int64_t slots(int peers);
  std::vector<uint32_t> read(Kind kind) const;  // slot 0, now

  // What a stream does with flags, in this order, as one operation: each takes it 3 to 4 us.
  class Batch {
   public:
    // What comes next comes after the peer's number.
    void await(const Flags& flags, Kind kind, int peer, uint32_t number, int64_t slot);
    // Into the flags that lie at `flags`, as rank `writer` of `peers`.
    void write(void* flags, Kind kind, int writer, int peers, uint32_t number, int64_t slot);
    // Behind all that the stream holds, and in front of what it gets from now on.
    void queue(cudaStream_t stream);

   private:
    std::vector<CUstreamBatchMemOpParams> operations_;
  };

 private:
  uint32_t* flag(Kind kind, int peer, int64_t slot) const;

  int peers_;
  unsigned flush_;  // of waits for what peers write
  void* memory_ = nullptr;
};

}  // namespace ringcheck
