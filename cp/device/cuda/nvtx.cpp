// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include <nvtx3/nvToolsExt.h>

#include "cp/device/range.h"

namespace ringcheck {
namespace {

// Ranges in the domain "ringcheck", for Nsight Systems. A call costs next to nothing where no tool
// is attached.
nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("ringcheck");
  return handle;
}

void push(const std::string& name) {
  nvtxEventAttributes_t range{};
  range.version = NVTX_VERSION;
  range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  range.messageType = NVTX_MESSAGE_TYPE_ASCII;
  range.message.ascii = name.c_str();
  nvtxDomainRangePushEx(domain(), &range);
}

void pop() { nvtxDomainRangePop(domain()); }

const Profilers::Add registered{"nvtx", {push, pop}};

}  // namespace
}  // namespace ringcheck
