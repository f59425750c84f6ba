// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// NCCL's entry points, counted: whoever calls ncclSend in a process that has loaded this library,
// LibTorch's process groups and plug-ins alike, calls ours, which counts and calls NCCL's own under
// its profiling name. Collectives count as the messages that would carry them directly. Who the peers
// are in the world is not known of a communicator of some of its ranks.
#include <nccl.h>

#include "cp/ledger/bypass.h"

namespace {

int64_t bytes_of(size_t count, ncclDataType_t type) {
  switch (type) {
    case ncclFloat16:
    case ncclBfloat16: return 2 * static_cast<int64_t>(count);
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32: return 4 * static_cast<int64_t>(count);
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64: return 8 * static_cast<int64_t>(count);
    default: return static_cast<int64_t>(count);  // bytes and the 8-bit floats
  }
}

// One call of NCCL.
class Call {
 public:
  Call(const char* name, size_t count, ncclDataType_t type, ncclComm_t comm)
      : call_(name), bytes_(bytes_of(count, type)) {
    counts_ = call_.counts() && ncclCommUserRank(comm, &rank_) == ncclSuccess &&
              ncclCommCount(comm, &size_) == ncclSuccess;
  }
  void sends(int peer) const {
    if (carries(peer)) call_.sends(call_.world_rank(peer, size_), bytes_);
  }
  void receives(int peer) const {
    if (carries(peer)) call_.receives(call_.world_rank(peer, size_), bytes_);
  }
  void to_all() const {
    for (int peer = 0; peer < size_; ++peer) {
      sends(peer);
      receives(peer);
    }
  }
  void from_root(int root) const {
    if (rank_ != root) return receives(root);
    for (int peer = 0; peer < size_; ++peer) sends(peer);
  }
  void to_root(int root) const {
    if (rank_ != root) return sends(root);
    for (int peer = 0; peer < size_; ++peer) receives(peer);
  }

 private:
  bool carries(int peer) const { return counts_ && peer != rank_; }

  ringcheck::BypassingCall call_;
  int64_t bytes_;
  bool counts_ = false;
  int rank_ = -1, size_ = 0;
};

}  // namespace

extern "C" {

ncclResult_t ncclSend(const void* data, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  const Call call("ncclSend", count, type, comm);
  call.sends(peer);
  return pncclSend(data, count, type, peer, comm, stream);
}

ncclResult_t ncclRecv(void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  const Call call("ncclRecv", count, type, comm);
  call.receives(peer);
  return pncclRecv(data, count, type, peer, comm, stream);
}

ncclResult_t ncclAllGather(const void* out, void* in, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  const Call call("ncclAllGather", count, type, comm);
  call.to_all();
  return pncclAllGather(out, in, count, type, comm, stream);
}

ncclResult_t ncclReduceScatter(const void* out, void* in, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  const Call call("ncclReduceScatter", count, type, comm);
  call.to_all();
  return pncclReduceScatter(out, in, count, type, op, comm, stream);
}

ncclResult_t ncclAllReduce(const void* out, void* in, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  const Call call("ncclAllReduce", count, type, comm);
  call.to_all();
  return pncclAllReduce(out, in, count, type, op, comm, stream);
}

ncclResult_t ncclBroadcast(const void* out, void* in, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  const Call call("ncclBroadcast", count, type, comm);
  call.from_root(root);
  return pncclBroadcast(out, in, count, type, root, comm, stream);
}

ncclResult_t ncclBcast(void* data, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  const Call call("ncclBcast", count, type, comm);
  call.from_root(root);
  return pncclBcast(data, count, type, root, comm, stream);
}

ncclResult_t ncclReduce(const void* out, void* in, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  const Call call("ncclReduce", count, type, comm);
  call.to_root(root);
  return pncclReduce(out, in, count, type, op, root, comm, stream);
}

#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)
ncclResult_t ncclAlltoAll(const void* out, void* in, size_t count, ncclDataType_t type,
                          ncclComm_t comm, cudaStream_t stream) {
  const Call call("ncclAlltoAll", count, type, comm);
  call.to_all();
  return pncclAlltoAll(out, in, count, type, comm, stream);
}

ncclResult_t ncclGather(const void* out, void* in, size_t count, ncclDataType_t type, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  const Call call("ncclGather", count, type, comm);
  call.to_root(root);
  return pncclGather(out, in, count, type, root, comm, stream);
}

ncclResult_t ncclScatter(const void* out, void* in, size_t count, ncclDataType_t type, int root,
                         ncclComm_t comm, cudaStream_t stream) {
  const Call call("ncclScatter", count, type, comm);
  call.from_root(root);
  return pncclScatter(out, in, count, type, root, comm, stream);
}
#endif

}  // extern "C"
