// SPDX-FileCopyrightText: The RingCheck authors
// SPDX-License-Identifier: Apache-2.0
#include "cp/device/cuda_library.h"
#include "kernels/cuda/cudnn_strips.h"

namespace ringcheck {
namespace {

const CudaKernels::Add registered{
    "cudnn", {std::make_shared<CudnnStrips>("cudnn", CudnnStrips::DQ::kRepeats)}};

}  // namespace
}  // namespace ringcheck
