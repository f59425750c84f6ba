// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
// A library that knows nothing of RingCheck and calls NCCL, as a subject under test may. It is
// loaded at run time, so its calls are bound as a plug-in's are. Each function returns what went
// wrong, or nullptr.
#include <cuda_runtime_api.h>
#include <nccl.h>

namespace {

const char* said(ncclResult_t result) {
  return result == ncclSuccess ? nullptr : ncclGetErrorString(result);
}

// What was enqueued by others, or by us, has been done.
const char* settled() {
  const cudaError_t result = cudaDeviceSynchronize();
  return result == cudaSuccess ? nullptr : cudaGetErrorString(result);
}

}  // namespace

extern "C" {

// Room for an id is 128 bytes.
const char* foreign_id(void* id) { return said(ncclGetUniqueId(static_cast<ncclUniqueId*>(id))); }

const char* foreign_join(const void* id, int rank, int size, void** comm) {
  return said(ncclCommInitRank(reinterpret_cast<ncclComm_t*>(comm), size,
                               *static_cast<const ncclUniqueId*>(id), rank));
}

const char* foreign_leave(void* comm) { return said(ncclCommDestroy(static_cast<ncclComm_t>(comm))); }

const char* foreign_exchange(void* comm, const void* send, int to, void* receive, int from,
                             long bytes) {
  const auto group = static_cast<ncclComm_t>(comm);
  if (const char* wrong = settled()) return wrong;
  ncclGroupStart();
  const ncclResult_t sent = ncclSend(send, bytes, ncclInt8, to, group, nullptr);
  const ncclResult_t received = ncclRecv(receive, bytes, ncclInt8, from, group, nullptr);
  const ncclResult_t ended = ncclGroupEnd();
  for (const ncclResult_t result : {sent, received, ended})
    if (result != ncclSuccess) return said(result);
  return settled();
}

}  // extern "C"
